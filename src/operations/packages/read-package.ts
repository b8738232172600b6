import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { readPackageDetails } from './package-details.ts';

export const readPackage = operation({
  name: 'read_package',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name',
  since: 0,
  summary: 'Get all details of a package: revisions, channels, history and collaborators.',
  access: storeAdministratorOnPackage('store-view'),
  response: 'ReadPackageResponse',

  handle: ({ package: subject, records, now }) => readPackageDetails(records, subject, now()),
});
