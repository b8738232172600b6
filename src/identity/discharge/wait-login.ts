// Waits until a person has finished the login in a browser; the client's request stays open until then.
import { anyone } from '#access/access-rules.ts';
import { disconnectSignal } from '#http/request/disconnect-signal.ts';
import { operation } from '#http/operation.ts';
import { Refusal } from '#domain/refusal.ts';
import { dischargeFor } from './discharge.ts';

export const waitToken = operation({
  name: 'wait_token',
  method: 'GET',
  path: '/identity/wait-token',
  since: 0,
  summary: 'Wait for the end of a login, and return the token that proves it.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  query: 'InteractionQuery',
  response: 'WaitTokenResponse',
  refuses: ['login-expired'],

  async handle({ query, identity, response }) {
    const { token } = await identity.interactions.wait(query.did, disconnectSignal(response));
    return { kind: 'login', token64: Buffer.from(token).toString('base64') };
  },
});

export const waitLegacy = operation({
  name: 'wait_legacy',
  method: 'GET',
  path: '/identity/wait-legacy',
  since: 0,
  summary: 'Wait for the end of a login, and return the discharge itself, as older clients expect.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  query: 'InteractionQuery',
  response: 'DischargeResponse',
  refuses: ['login-expired'],

  async handle(call) {
    const { interactions } = call.identity;
    const { caveat, token } = await interactions.wait(call.query.did, disconnectSignal(call.response));
    if (caveat === undefined) throw new Refusal('login-expired', 'There is no such login in progress.');
    return { Macaroon: await dischargeFor(caveat, await interactions.redeem(token, caveat), call) };
  },
});
