import { discharged } from '#api/access.ts';
import { operation } from '#api/operation.ts';

export const exchangeUssoMacaroons = operation({
  name: 'exchange_usso_macaroons',
  method: 'POST',
  path: '/v1/tokens/usso/exchange',
  since: 0,
  summary: 'Exchange a macaroon that was discharged in the Ubuntu One style for a token.',
  access: discharged,
  body: 'ExchangeUssoMacaroonsRequest',
  bodyOptional: true,
  response: 'ExchangedMacaroonResponse',
  refuses: ['exchange-window-expired'],

  async handle({ login, body, authority, requestId, address }) {
    const { token } = await authority.exchange(login, { requestId, address }, described(body));
    return { macaroon: token };
  },
});

export const exchangeDashboardMacaroons = operation({
  name: 'exchange_dashboard_macaroons',
  method: 'POST',
  path: '/v1/tokens/dashboard/exchange',
  since: 0,
  summary: 'Exchange a macaroon of the older publishing tools for a token.',
  access: discharged,
  body: 'ExchangeUssoMacaroonsRequest',
  bodyOptional: true,
  response: 'ExchangedMacaroonResponse',
  refuses: ['exchange-window-expired'],

  async handle({ login, body, authority, requestId, address }) {
    const { token } = await authority.exchange(login, { requestId, address }, described(body));
    return { macaroon: token };
  },
});

const described = (body: { 'client-description'?: string | null } | undefined): string | undefined =>
  body?.['client-description'] ?? undefined;
