import { storeAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { presentToken } from './present-token.ts';

export const revokeToken = operation({
  name: 'revoke_token',
  method: 'POST',
  path: '/internal/v1/tokens/revoke',
  since: 0,
  summary: "Revoke one token of anybody's, at once and for good.",
  access: storeAdministrator('store-manage'),
  body: 'RevokeMacaroonRequest',
  response: 'StoreToken',
  refuses: ['resource-not-found'],

  async handle(call) {
    const { principal, body, records, now } = call;
    const session = body['session-id'];
    const at = timestamp(now());
    const entry = { ...by(call, 'revoke_token'), at, object: `session/${session}` };
    const ended = await records.change(entry, async (tx, note) => {
      const token = await tx.macaroons.end(session, { at, by: principal.accountId });
      if (token === undefined)
        throw new Refusal('resource-not-found', `There is no token with the session '${session}'.`);
      note({ account: token.accountId });
      return token;
    });
    return presentToken(ended);
  },
});
