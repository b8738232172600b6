// Agents: programs that log in with their own key as the account that they act for.
import { Refusal } from '#domain/refusal.ts';
import type { Agent } from '#records/accounts/agents.ts';
import { requireAccount, markTouched } from './accounts.ts';
import { act } from '../act.ts';

const agentObject = ({ username }: { username: string }): string => `agent/${username}`;

export const registerAgent = act({
  name: 'register_agent',
  summary: 'Let a program log in with a key of its own, as an account.',
  on: 'agent/USERNAME',
  object: agentObject,
  gate: { never: 'the approvals of a changed account do not count for three days' },

  async perform(tx, registration: Omit<Agent, 'createdAt'>, doing): Promise<Agent> {
    doing.note({ account: registration.accountId, publicKey: registration.publicKey });
    await requireAccount(tx, registration.accountId);
    const agent = { ...registration, createdAt: doing.at };
    if (await tx.agents.claim(agent)) {
      await markTouched(tx, registration.accountId, doing);
      return agent;
    }
    throw new Refusal(
      'conflict',
      `There is already an agent '${registration.username}'. Remove it first with 'larder agent remove'.`,
    );
  },
});

export const removeAgent = act({
  name: 'remove_agent',
  summary: 'Remove an agent: it can no longer log in.',
  on: 'agent/USERNAME',
  object: agentObject,
  gate: { never: 'a key in the wrong hands must stop working at once' },

  async perform(tx, { username }: { username: string }): Promise<void> {
    if (await tx.agents.remove(username)) return;
    throw new Refusal(
      'resource-not-found',
      `There is no agent '${username}'. List the agents with 'larder agent list'.`,
    );
  },
});
