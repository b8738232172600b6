// larder agent register, larder agent list, larder agent remove
import { registerAgent, removeAgent } from '#acts/accounts/agents.ts';
import { keyFromText } from '#macaroons/discharger.ts';
import type { Agent } from '#records/accounts/agents.ts';
import { command, UsageError } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

const username = { name: 'username', summary: 'The name that the agent logs in with.' } as const;

export const agentRegister = command({
  name: 'agent register',
  summary: 'Register an agent: a program that logs in as an account with its own key.',
  description:
    'The program keeps the private key in the agent file that clients of the bakery read. The store keeps the ' +
    'public key. The agent has the permissions of its account. The address of the identity provider in the agent ' +
    'file is BASE_URL/identity.',
  positionals: [username],
  options: {
    account: { type: 'string', value: 'ID', summary: 'The account that it logs in as.', required: true },
    'public-key': { type: 'string', value: 'BASE64', summary: 'Its public key, Curve25519.', required: true },
  },
  examples: ['larder agent register builder --account ci --public-key CW1TvTYvFGA5XqWeDVnH2Rlk0bFEaR3qrBvFuaIjBl4='],

  run({ positionals, options, data, world }) {
    const { username } = positionals;
    if (!/^[a-zA-Z0-9](?:[a-zA-Z0-9._+@-]{0,126}[a-zA-Z0-9])?$/.test(username)) {
      throw new UsageError(
        `the name of an agent holds letters, digits and, between them, any of . _ + @ -, unlike '${username}'`,
      );
    }
    const publicKey = keyFromText(options['public-key']);
    if (publicKey === undefined) throw new UsageError('--public-key is a key of 32 bytes in base64');
    return withStore({ data, world }, async ({ records, acts, person, config }) => {
      const { id, username: owner } = await findAccount(records, options.account);
      const agent = await acts.do(registerAgent, person, { username, accountId: id, publicKey });
      return {
        text: `The agent ${username} logs in as ${id} (${owner}), at ${config.http.base_url}/identity.`,
        json: { ...presentAgent(agent), url: `${config.http.base_url}/identity` },
      };
    });
  },
});

export const agentList = command({
  name: 'agent list',
  summary: 'List the agents.',
  examples: ['larder agent list', 'larder agent list --json'],

  run: (call) =>
    withStore(call, async ({ records }) => {
      const agents = await records.agents.list();
      const rows = agents.map((agent) => [agent.username, agent.accountId, agent.publicKey, agent.createdAt]);
      return {
        text: agents.length === 0 ? 'There is no agent.' : table(['AGENT', 'ACCOUNT', 'PUBLIC KEY', 'SINCE'], rows),
        json: { agents: agents.map(presentAgent) },
      };
    }),
});

export const agentRemove = command({
  name: 'agent remove',
  summary: 'Remove an agent, so that it can no longer log in.',
  description:
    "Its tokens stay valid until they expire or are revoked. 'larder token revoke --account ID' revokes them at " +
    'once.',
  positionals: [username],
  examples: ['larder agent remove builder', 'larder agent remove builder --yes'],
  confirm: {
    question: ({ positionals: { username } }) => `The agent ${username} can no longer log in.`,
    unattended: 'refused',
  },

  run({ positionals: { username }, data, world }) {
    return withStore({ data, world }, async ({ acts, person }) => {
      await acts.do(removeAgent, person, { username });
      return { text: `The agent ${username} is removed.`, json: { removed: username } };
    });
  },
});

const presentAgent = ({ username, accountId, publicKey, createdAt }: Agent) => ({
  username,
  account: accountId,
  'public-key': publicKey,
  'created-at': createdAt,
});
