import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { isAdministratorCredential } from '#macaroons/administrator-credential.ts';

export const offlineExchangeMacaroon = operation({
  name: 'offline_exchange_macaroon',
  method: 'POST',
  path: '/v1/tokens/offline/exchange',
  since: 12,
  summary: "Exchange the store administrator's credential for a token.",
  access: anyone,
  body: 'OfflineExchangeRequest',
  response: 'ExchangedMacaroonResponse',
  enabledBy: 'store.offline_mode',
  refuses: ['macaroon-authorization-required', 'forbidden', 'too-many-requests'],

  async handle({ body, administrator, authority, identity, records, address, requestId, log }) {
    const { store_admin_id: accountId, store_admin_macaroon_sha3_384: digests } = administrator();
    if (accountId === undefined || !isAdministratorCredential(body.macaroon, digests)) {
      await identity.exchanges.failed(address);
      throw new Refusal('macaroon-authorization-required', "This is not the store administrator's credential.");
    }
    if ((await records.accounts.find(accountId)) === undefined) {
      log.error({ accountId }, 'auth.store_admin_id names an account that does not exist');
      throw new Refusal('forbidden', "The configuration's auth.store_admin_id names an account that does not exist.");
    }
    const input = { accountId, description: 'offline exchange' };
    const { token } = await authority.exchangeCredential(input, { address, requestId });
    return { macaroon: token };
  },
});
