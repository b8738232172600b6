import { revokeToken as act } from '#acts/tokens/tokens.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';
import { presentToken } from './present-token.ts';

export const revokeToken = operation({
  name: 'revoke_token',
  method: 'POST',
  path: '/internal/v1/tokens/revoke',
  since: 0,
  summary: 'Revoke a token of any account, immediately and permanently.',
  access: storeAdministrator('store-manage'),
  body: 'RevokeMacaroonRequest',
  response: 'StoreToken',
  refuses: ['resource-not-found'],

  handle: async (call) => presentToken(await call.acts.do(act, caller(call), { sessionId: call.body['session-id'] })),
});
