import { discharged } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';

/** Declares the same operation for two paths. */
const exchange = (about: { name: string; path: string; summary: string }) =>
  operation({
    ...about,
    method: 'POST',
    since: 0,
    access: discharged,
    body: 'ExchangeUssoMacaroonsRequest',
    bodyOptional: true,
    response: 'ExchangedMacaroonResponse',
    refuses: ['exchange-window-expired'],

    async handle({ login, body, authority, requestId, address }) {
      const { token } = await authority.exchange(login, { requestId, address }, readClientDescription(body));
      return { macaroon: token };
    },
  });

export const exchangeUssoMacaroons = exchange({
  name: 'exchange_usso_macaroons',
  path: '/v1/tokens/usso/exchange',
  summary: 'Exchange a macaroon discharged in the Ubuntu One style for a token.',
});

export const exchangeDashboardMacaroons = exchange({
  name: 'exchange_dashboard_macaroons',
  path: '/v1/tokens/dashboard/exchange',
  summary: 'Exchange a macaroon of the older publishing tools for a token.',
});

/** The client's description of itself, if it sends a body. */
const readClientDescription = (body: { 'client-description'?: string | null } | undefined): string | undefined =>
  body?.['client-description'] ?? undefined;
