import { storeAdministratorOnPackage } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { readPackageDetails } from './whole-package.ts';

export const readPackage = operation({
  name: 'read_package',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name',
  since: 0,
  summary: 'Show one package whole: revisions, channels, history, and who works on it.',
  access: storeAdministratorOnPackage('store-view'),
  response: 'ReadPackageResponse',

  handle: ({ package: subject, records, now }) => readPackageDetails(records, subject, now()),
});
