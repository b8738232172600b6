// Agents: programs that log in with their own key, as the account that they act for.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface Agent {
  username: string;
  accountId: string;
  publicKey: string;
  createdAt: string;
}

const agentColumns = columns`username, account_id AS "accountId", public_key AS "publicKey", created_at AS "createdAt"`;

export const agents = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (username: string) =>
    db.get<Agent>(sql`
      SELECT ${agentColumns}
      FROM agents WHERE username = ${username}`),

  list: () =>
    db.all<Agent>(sql`
      SELECT ${agentColumns}
      FROM agents ORDER BY username`),
});

export const agentChanges = (db: Queries) => ({
  ...agents(db),

  /** Registers an agent. Returns false if one of that name exists. */
  claim: async (agent: Agent) =>
    0 <
    (await db.run(sql`
      INSERT INTO agents (username, account_id, public_key, created_at)
      VALUES (${agent.username}, ${agent.accountId}, ${agent.publicKey}, ${agent.createdAt})
      ON CONFLICT DO NOTHING`)),

  remove: async (username: string) => 0 < (await db.run(sql`DELETE FROM agents WHERE username = ${username}`)),
});
