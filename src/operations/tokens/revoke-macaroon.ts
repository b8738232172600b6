import { revokeOwnToken } from '#acts/tokens/tokens.ts';
import { account } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '../caller.ts';
import { presentMacaroon, isVisibleTo } from './present.ts';

export const revokeMacaroon = operation({
  name: 'revoke_macaroon',
  method: 'POST',
  path: '/v1/tokens/revoke',
  since: 10,
  summary: "Revoke one of the account's tokens immediately.",
  access: account('token'),
  body: 'RevokeMacaroonRequest',
  response: 'MacaroonListResponse',
  refuses: ['resource-not-found'],

  async handle(call) {
    const { principal, body, records, acts, now } = call;
    const session = body['session-id'];
    if (!isVisibleTo(principal)({ sessionId: session })) {
      throw new Refusal(
        'permission-required',
        'This token is restricted and can revoke only itself. Use a token without restrictions, or with account-manage-metadata.',
      );
    }
    await acts.do(revokeOwnToken, caller(call), { sessionId: session, accountId: principal.accountId });
    const macaroons = await records.macaroons.list(principal.accountId, timestamp(now()), true);
    return { macaroons: macaroons.filter(isVisibleTo(principal)).map(presentMacaroon) };
  },
});
