// Rows of the operations about assertions.
import { mediaType, stream } from '#assertions/format/assertion.ts';
import { accountKeyRequest } from '#assertions/keys/account-key-request.ts';
import { vectorKey, vectorSigner } from '#test/assertions/vectors.ts';
import { account, accountKey } from '#test/assertions/world.ts';
import type { OperationRows } from './row.ts';
import { must, once, request } from './writes.ts';

export const assertionsRows: OperationRows = {
  import_assertions: {
    about: 'store',
    callers: 'brand administrator',
    needs: ['account-manage-keys', 'store-manage'],
    writes: once(async ({ ada, brand }, n) => {
      const at = `/v1/brand/${brand}/assertions`;
      const type = { 'content-type': mediaType };
      const revision = async (number: number): Promise<string> =>
        stream([
          await accountKey('store', 'authority', 'store', {}, 'root'),
          await account(brand, 'store', 'authority', { revision: String(number) }),
        ]);
      // The next revision takes the row of the one before.
      must(await ada.post(at, await revision(2 * n), type));
      const writeRequest = request(ada, 'POST', at);
      return { ...writeRequest, headers: { ...writeRequest.headers, ...type }, body: await revision(2 * n + 1) };
    }),
  },
  read_assertion: {
    about: 'packages',
    callers: 'anyone',
    reads: () => [{ path: '/v2/assertions/account/nobody', status: 404 }],
  },
  read_assertion_of_two_values: {
    about: 'packages',
    callers: 'anyone',
    reads: () => [{ path: '/v2/assertions/snap-declaration/16/nobody', status: 404 }],
  },
  read_assertion_of_three_values: {
    about: 'packages',
    callers: 'anyone',
    reads: () => [{ path: '/v2/assertions/model/16/nobody/none', status: 404 }],
  },
  read_assertion_of_four_values: {
    about: 'packages',
    callers: 'anyone',
    reads: () => [{ path: '/v2/assertions/validation-set/16/nobody/none/1', status: 404 }],
  },
  read_assertion_of_five_values: {
    about: 'packages',
    callers: 'anyone',
    reads: () => [{ path: '/v2/assertions/snap-resource-pair/nobody/none/1/1/none', status: 404 }],
  },
  store_assertions: {
    about: 'public',
    callers: 'anyone',
    reads: () => [{ path: '/v2/auth/store/assertions', status: 404 }],
  },
  dashboard_account_key: {
    about: 'store',
    callers: 'any account',
    needs: ['account-manage-keys'],
    writes: once(async ({ store, ada }, n) => {
      const since = new Date('2026-03-01T12:00:00Z');
      const { id } = vectorKey('rsa2048-a');
      const keyRequest = {
        signer: vectorSigner(),
        keyId: id,
        accountId: store.ids.ada,
        name: 'default',
        since,
        signedAt: since,
      };
      const at = '/dev/api/account/account-key';
      const revision = async (number: number) => ({
        account_key_request: await accountKeyRequest({ ...keyRequest, revision: number }),
      });
      must(await ada.post(at, await revision(2 * n)));
      return request(ada, 'POST', at, await revision(2 * n + 1));
    }),
  },
};
