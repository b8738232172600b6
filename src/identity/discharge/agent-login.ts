// Logs in agents: programs that prove that they hold a key.
import { anyone } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { keyFromText, noSuchAgent } from '#macaroons/discharger.ts';
import { protocolVersion } from './bakery-errors.ts';

export const agentLogin = operation({
  name: 'agent_login',
  method: 'GET',
  path: '/identity/login/agent',
  since: 0,
  summary: "Issue a macaroon to an agent that only the holder of the agent's key can discharge.",
  access: anyone,
  errors: 'bakery',
  prefixed: false,
  query: 'AgentLoginQuery',
  response: 'AgentLoginResponse',
  refuses: ['invalid-credentials', 'login-expired'],

  async handle({ query, records, identity, discharger, request }) {
    const { did, username } = query;
    const interaction = await identity.interactions.find(did);
    const publicKey = keyFromText(query['public-key'].replaceAll(' ', '+')); // a plus sign can arrive unescaped
    const agent = await records.agents.find(username);
    if (publicKey === undefined || agent?.publicKey !== publicKey) throw noSuchAgent();
    const version = protocolVersion(request) || 1;
    return { macaroon: await discharger.startAgentLogin({ username, publicKey, login: interaction.id }, version) };
  },
});
