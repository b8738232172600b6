import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';

/** Maximum number of listed packages, and of publishers. */
const maxListed = 100;

export const storageUse = operation({
  name: 'storage_use',
  method: 'GET',
  path: '/internal/v1/storage',
  since: 0,
  summary: 'List the packages and publishers that use the most disk space.',
  access: storeAdministrator('store-view'),
  response: 'StorageResponse',

  async handle({ records }) {
    const [bytes, packages, publishers] = await Promise.all([
      records.inventory.bytes(),
      records.inventory.largestPackages(maxListed),
      records.inventory.largestPublishers(maxListed),
    ]);
    return { bytes, packages, publishers };
  },
});
