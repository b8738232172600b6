import { discharged } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';

export const exchangeMacaroons = operation({
  name: 'exchange_macaroons',
  method: 'POST',
  path: '/v1/tokens/exchange',
  since: 1,
  summary: 'Exchange a macaroon that the identity provider has discharged for a token.',
  access: discharged,
  body: 'ExchangeMacaroonsRequest',
  bodyOptional: true,
  response: 'ExchangedMacaroonResponse',
  refuses: ['exchange-window-expired'],

  async handle({ login, authority, requestId, address }) {
    const { token } = await authority.exchange(login, { requestId, address });
    return { macaroon: token };
  },
});
