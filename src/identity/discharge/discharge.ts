// Discharges third-party caveats: a client with a token that proves a login gets the discharge; any other client gets the ways to
// log in.
import type { IncomingMessage } from 'node:http';

import { anyone } from '#access/access-rules.ts';
import type { ProvenLogin, StartedInteraction } from '#http/identity-provider.ts';
import { operation, type OperationResponse } from '#http/operation.ts';
import type { Services } from '#http/services.ts';
import type { DischargeParameters } from '#contract/wire.ts';
import { after, minutes, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { bytesFromBase64, noSuchAgent, type AddressedCaveat, type DischargeJson } from '#macaroons/discharger.ts';
import { certificateCondition } from '#macaroons/login.ts';
import { bakeryError } from './bakery-errors.ts';
import { declarations, readCondition, type AuthenticatedAccount } from './conditions.ts';

export const discharge = operation({
  name: 'discharge',
  method: 'POST',
  path: '/identity/discharge',
  since: 0,
  summary: 'Discharge a third-party caveat for a logged-in account, or explain how to log in.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  consumes: 'application/x-www-form-urlencoded',
  bodyLimit: 128 * 1024,
  query: 'DischargeParameters',
  body: 'DischargeParameters',
  bodyOptional: true,
  response: 'DischargeResponse',
  refuses: ['forbidden', 'login-expired'],
  asks: {
    401: 'A login is required first; Info gives its address.',
    407: 'The same for clients of version 1 of the protocol.',
  },

  async handle(call) {
    const parameters: DischargeParameters = { ...call.query, ...call.body };
    const caveat = await readCaveat(parameters, call);
    // Refuse an unknown condition before the person has to enter a password.
    readCondition(caveat.condition);
    const token = bytesOf(parameters.token, parameters.token64, 'token');
    if (token === undefined) return interactionRequired(caveat, call);
    const login =
      parameters['token-kind'] === 'agent'
        ? await agentOf(token, caveat, call)
        : await call.identity.interactions.redeem(token.toString('latin1'), caveat);
    return { Macaroon: await dischargeFor(caveat, login, call) };
  },
});

/** A discharge must be used within this time. */
const dischargeLife = minutes(10);

/** The discharge for an account that has logged in. */
export async function dischargeFor(
  caveat: AddressedCaveat,
  { accountId, provenBy }: ProvenLogin,
  { records, discharger, authority }: Pick<Services, 'records' | 'discharger' | 'authority'>,
): Promise<DischargeJson> {
  const person = await personOf(accountId, records);
  const declared = declarations(readCondition(caveat.condition), person);
  return discharger.discharge(caveat, [
    // Other services would refuse a discharge with a condition that they do not know.
    ...(provenBy === 'certificate' && caveat.purpose !== undefined ? [certificateCondition] : []),
    ...declared,
    `time-before ${timestamp(after(authority.latestTime(), dischargeLife))}`,
  ]);
}

/** An account with its groups: its roles, and a group with its user name. */
async function personOf(accountId: string, records: Services['records']): Promise<AuthenticatedAccount> {
  const account = await records.accounts.find(accountId);
  if (account === undefined || (await records.accounts.disabledAt(accountId)) !== null) {
    throw new Refusal('permission-required', 'This account is disabled or gone.');
  }
  return { ...account, groups: [account.username, ...(await records.accounts.rolesOf(accountId))] };
}

async function readCaveat(
  parameters: DischargeParameters,
  { discharger }: Pick<Services, 'discharger'>,
): Promise<AddressedCaveat> {
  const id = bytesOf(parameters.id, parameters.id64, 'id');
  if (id === undefined) throw new Refusal('api-error', 'The caveat is missing: its identifier belongs in id or id64.');
  return discharger.read(id, bytesOf(undefined, parameters.caveat64, 'caveat'));
}

/**
 * Reads a value that a client sends as text or, under another name, as base64. Clients differ in the base64 alphabet and in
 * padding; none sends both forms.
 */
function bytesOf(text: string | undefined, base64: string | undefined, name: string): Buffer | undefined {
  if (text !== undefined && base64 !== undefined) {
    throw new Refusal('api-error', `Give ${name} or ${name}64, not both.`);
  }
  if (text !== undefined && text !== '') return Buffer.from(text);
  if (base64 === undefined || base64 === '') return undefined;
  const bytes = bytesFromBase64(base64);
  if (bytes === undefined) throw new Refusal('api-error', `${name}64 is not base64.`);
  return bytes;
}

/** The account of an agent that has proven its key, for the login that it began. */
async function agentOf(
  token: Buffer,
  caveat: AddressedCaveat,
  call: Pick<Services, 'records' | 'discharger' | 'identity'>,
): Promise<ProvenLogin> {
  const { username, publicKey, login } = call.discharger.readAgentLogin(token);
  const agent = await call.records.agents.find(username);
  if (agent?.publicKey !== publicKey) throw noSuchAgent();
  const interaction = await call.identity.interactions.find(login);
  // The token is valid only for the caveat of that login and, like the login, only once.
  const account = (await call.records.accounts.find(agent.accountId))!;
  const proof = await call.identity.interactions.finish(interaction.id, account);
  return call.identity.interactions.redeem(proof, caveat);
}

async function interactionRequired(
  caveat: AddressedCaveat,
  call: Pick<Services, 'identity' | 'config'> & { address: string; request: IncomingMessage },
): Promise<OperationResponse> {
  const { identity, config, address, request } = call;
  const interaction = await identity.interactions.begin({ caveat, address });
  const message = 'Log in at the identity provider of this store.';
  return bakeryError('interaction required', message, waysToLogIn(interaction, config.http.base_url), request);
}

/** Every known way to log in; each client uses the first that it supports. */
function waysToLogIn({ id, waitId }: StartedInteraction, baseUrl: string): object {
  const at = (path: string, did?: string): string =>
    `${baseUrl}/identity/${path}${did === undefined ? '' : `?did=${did}`}`;
  return {
    InteractionMethods: {
      agent: { 'login-url': at('login/agent', id) },
      form: { url: at('form', id) },
      'browser-window': { VisitURL: at('login', id), WaitTokenURL: at('wait-token', waitId) },
      'browser-redirect': { LoginURL: at('login-redirect'), DischargeTokenURL: at('discharge-token') },
    },
    VisitURL: at('login-legacy', id),
    WaitURL: at('wait-legacy', waitId),
  };
}
