import { storeAdministratorOnPackage } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { pageOf, pageSize, placeOf } from '../../page.ts';
import { presentGrant } from './present.ts';

export const listDeviceGrants = operation({
  name: 'list_device_grants',
  method: 'GET',
  path: '/internal/v1/packages/:namespace/:name/device-grants',
  since: 0,
  summary: 'List the device grants of a private snap, page by page.',
  access: storeAdministratorOnPackage('store-view'),
  query: 'PageQuery',
  response: 'ListDeviceGrantsResponse',

  async handle({ package: subject, query, records }) {
    const size = pageSize(query);
    const place = placeOf(query, ['', '', ''] as const);
    const rows = await records.deviceGrants.list(subject.id, place, size + 1);
    const { entries, next } = pageOf(rows, size, ({ brandId, model = '', serial = '' }) => [brandId, model, serial]);
    return { grants: entries.map(presentGrant), 'next-cursor': next };
  },
});
