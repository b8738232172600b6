// The older login protocol: one address that lists the ways to log in, and one address to wait at.
import type { IncomingMessage } from 'node:http';

import { anyone } from '#access/access-rules.ts';
import { json } from '#http/response/outgoing-response.ts';
import { OperationResponse, operation } from '#http/operation.ts';
import { bytesFromBase64, keyFromText, noSuchAgent } from '#macaroons/discharger.ts';
import { Refusal } from '#domain/refusal.ts';
import { bakeryError, protocolVersion } from './bakery-errors.ts';
import { loginPage, withRefusalPage } from '../login/login-page.ts';

export const loginLegacy = operation({
  name: 'login_legacy',
  method: 'GET',
  path: '/identity/login-legacy',
  since: 0,
  summary: 'Show the login page to browsers, and list the login methods for older clients.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  query: 'InteractionQuery',
  response: 'LoginMethods',
  produces: ['text/html'],
  refusesWithPages: true,
  refuses: ['login-expired'],

  async handle({ query, request, identity, config }) {
    const { base_url: baseUrl } = config.http;
    if (!/\bapplication\/json\b/i.test(request.headers.accept ?? '')) {
      return withRefusalPage(baseUrl, async () => loginPage(await identity.interactions.find(query.did), config));
    }
    const { id } = await identity.interactions.find(query.did);
    const body = {
      interactive: `${baseUrl}/identity/login?did=${id}`,
      agent: `${baseUrl}/identity/login-legacy?did=${id}`,
    };
    return new OperationResponse({ headers: json, body: JSON.stringify(body) });
  },
});

export const agentLoginLegacy = operation({
  name: 'agent_login_legacy',
  method: 'POST',
  path: '/identity/login-legacy',
  since: 0,
  summary: 'Log in an agent that proves its key with a cookie, the older way.',
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  query: 'InteractionQuery',
  body: 'LegacyAgentRequest',
  response: 'AgentLoggedIn',
  asks: {
    401: 'The agent must prove its key; Info contains the macaroon to discharge.',
    407: 'The same for clients of version 1 of the protocol.',
  },
  refuses: ['invalid-credentials', 'login-expired'],

  async handle({ query, body, request, records, identity, discharger }) {
    const { username } = body;
    const agent = await records.agents.find(username);
    const account = agent && (await records.accounts.find(agent.accountId));
    if (agent === undefined || account === undefined) throw noSuchAgent();
    if (agent.publicKey !== keyFromText(body.public_key)) throw noSuchAgent();
    const interaction = await identity.interactions.find(query.did);
    const proof = proofIn(request);
    if (proof === undefined) {
      const version = protocolVersion(request) || 1;
      const agentLogin = { username, publicKey: agent.publicKey, login: interaction.id };
      const Macaroon = await discharger.startAgentLogin(agentLogin, version);
      const info = { Macaroon, MacaroonPath: '/identity', CookieNameSuffix: 'agent' };
      return bakeryError('macaroon discharge required', 'Prove that you hold the key.', info, request);
    }
    const proven = discharger.readAgentLogin(proof);
    const same =
      proven.username === username && proven.publicKey === agent.publicKey && proven.login === interaction.id;
    if (!same) throw noSuchAgent();
    await identity.interactions.finish(interaction.id, account);
    return new OperationResponse({ headers: json, body: JSON.stringify({ agent_login: true }) });
  },
});

/** The macaroons in the cookie that the earlier response asked the client to set. */
function proofIn(request: IncomingMessage): Buffer | undefined {
  const cookie = /(?:^|;\s*)macaroon-agent="?([^";\s]+)"?/.exec(request.headers.cookie ?? '')?.[1];
  if (cookie === undefined) return undefined;
  const list = bytesFromBase64(cookie);
  if (list === undefined) throw new Refusal('api-error', 'The cookie macaroon-agent is not base64.');
  return list;
}
