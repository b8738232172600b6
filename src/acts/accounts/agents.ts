// Agents: programs that log in with their own key as the account that they act for.
import { Refusal } from '#domain/refusal.ts';
import type { Agent } from '#records/accounts/agents.ts';
import { requireAccount, markTouched } from './accounts.ts';
import { act } from '../act.ts';

const agentObject = ({ username }: { username: string }): string => `agent/${username}`;

export const registerAgent = act({
  name: 'agent register',
  summary: 'Let a program log in with a key of its own, as an account.',
  on: 'agent/USERNAME',
  object: agentObject,
  gate: { never: 'the approvals of an account that was just changed do not count for three days' },

  async perform(tx, registration: Omit<Agent, 'createdAt'>, doing): Promise<Agent> {
    doing.note({ account: registration.accountId, publicKey: registration.publicKey });
    await requireAccount(tx, registration.accountId);
    const agent = { ...registration, createdAt: doing.at };
    if (await tx.agents.claim(agent)) {
      await markTouched(tx, registration.accountId, doing, 'agent register');
      return agent;
    }
    throw new Refusal(
      'conflict',
      `There is an agent '${registration.username}' already; 'larder agent remove' ends it.`,
    );
  },
});

export const removeAgent = act({
  name: 'agent remove',
  summary: 'Let an agent log in no more.',
  on: 'agent/USERNAME',
  object: agentObject,
  gate: { never: 'whoever should not have its key is kept out at once' },

  async perform(tx, { username }: { username: string }): Promise<void> {
    if (await tx.agents.remove(username)) return;
    throw new Refusal('resource-not-found', `There is no agent '${username}'; 'larder agent list' lists them.`);
  },
});
