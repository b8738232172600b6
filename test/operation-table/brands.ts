// Rows of the operations about brands.
import type { OperationRows } from './row.ts';
import { must, once, request } from './writes.ts';

export const brandsRows: OperationRows = {
  list_brands: {
    about: 'store',
    callers: 'store administrator',
    needs: ['store-view'],
    reads: () => [{ as: 'root', path: '/internal/v1/brands' }],
  },
  read_brand: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['store-view', 'account-manage-keys', 'account-manage-metadata', 'store-manage'],
    reads: ({ ids }) => [{ as: 'ada', path: `/v1/brand/${ids.ada}` }],
  },
  update_brand: { about: 'store', callers: 'brand administrator', needs: ['account-manage-metadata', 'store-manage'] },
  delete_brand: { about: 'store', callers: 'brand administrator', needs: ['account-manage-metadata', 'store-manage'] },
  create_model: { about: 'store', callers: 'brand administrator', needs: ['account-manage-metadata', 'store-manage'] },
  read_models: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['store-view', 'account-manage-keys', 'account-manage-metadata', 'store-manage'],
    reads: ({ ids }) => [{ as: 'ada', path: `/v1/brand/${ids.ada}/model` }],
  },
  update_model: { about: 'store', callers: 'brand administrator', needs: ['account-manage-metadata', 'store-manage'] },
  delete_model: { about: 'store', callers: 'brand administrator', needs: ['account-manage-metadata', 'store-manage'] },
  list_remodel_allowlist: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['store-view', 'account-manage-keys', 'account-manage-metadata', 'store-manage'],
    reads: ({ ids }) => [{ as: 'ada', path: `/v1/brand/${ids.ada}/remodel-allowlist` }],
  },
  add_remodel_allowlist: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-metadata', 'store-manage'],
    writes: once(async ({ ada, brand }, n) => {
      for (const name of [`from-${n}`, `to-${n}`])
        must(await ada.post(`/v1/brand/${brand}/model`, { name, series: '16' }));
      const remodel = { 'from-model': `from-${n}`, 'from-serial': null, 'to-model': `to-${n}`, description: null };
      return request(ada, 'POST', `/v1/brand/${brand}/remodel-allowlist`, { allowlist: [remodel] });
    }),
  },
  update_remodel_allowlist: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-metadata', 'store-manage'],
  },
  delete_remodel_allowlist: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-metadata', 'store-manage'],
  },
  read_serial_policies: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['store-view', 'account-manage-keys', 'account-manage-metadata', 'store-manage'],
    reads: ({ ids }) => [{ as: 'ada', path: `/v1/brand/${ids.ada}/model/pump/serial_policy` }],
  },
  create_serial_policy: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-metadata', 'store-manage'],
    writes: 'not tried: one that is made twice is two revisions',
  },
  delete_serial_policy: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-metadata', 'store-manage'],
    writes: once(async ({ ada, brand, key }, n) => {
      must(await ada.post(`/v1/brand/${brand}/model`, { name: `mill-${n}`, series: '16' }));
      const at = `/v1/brand/${brand}/model/mill-${n}/serial_policy`;
      must(await ada.post(at, { 'signing-key-sha3-384': key }));
      return request(ada, 'DELETE', `${at}/1`);
    }),
  },
};
