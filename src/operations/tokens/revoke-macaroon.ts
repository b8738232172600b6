import { account } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { presentMacaroon, within } from './present.ts';

export const revokeMacaroon = operation({
  name: 'revoke_macaroon',
  method: 'POST',
  path: '/v1/tokens/revoke',
  since: 10,
  summary: "Revoke one of the account's tokens, at once.",
  access: account('token'),
  body: 'RevokeMacaroonRequest',
  response: 'MacaroonListResponse',
  refuses: ['resource-not-found'],

  async handle(call) {
    const { principal, body, records, now } = call;
    const session = body['session-id'];
    if (!within(principal)({ sessionId: session })) {
      throw new Refusal(
        'permission-required',
        'This token is narrowed, and ends itself alone; use one without restrictions, or with account-manage-metadata.',
      );
    }
    const at = timestamp(now());
    await records.change({ ...by(call, 'revoke_macaroon'), at, object: `session/${session}` }, async (tx) => {
      if (await tx.macaroons.revoke(session, principal.accountId, at)) return;
      throw new Refusal('resource-not-found', `This account has no macaroon with the session-id '${session}'.`);
    });
    const macaroons = await records.macaroons.list(principal.accountId, at, true);
    return { macaroons: macaroons.filter(within(principal)).map(presentMacaroon) };
  },
});
