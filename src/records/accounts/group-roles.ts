// Roles that accounts have because of groups of the OpenID provider. A role in force is also among the roles of the account.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface GroupRole {
  role: string;
  /** The group that gives the role. */
  group: string;
  since: string;
  /** False while the provider does not confirm the account. */
  inForce: 0 | 1;
}

const groupRoleColumns = columns`role, group_name AS "group", since, in_force AS "inForce"`;

export const groupRoles = (db: Pick<Queries, 'get' | 'all'>) => ({
  of: (accountId: string) =>
    db.all<GroupRole>(sql`
      SELECT ${groupRoleColumns} FROM group_roles WHERE account_id = ${accountId} ORDER BY role`),

  find: (accountId: string, role: string) =>
    db.get<GroupRole>(sql`
      SELECT ${groupRoleColumns} FROM group_roles WHERE account_id = ${accountId} AND role = ${role}`),

  /** Lists accounts with roles in force that the provider has last confirmed at or before `confirmedBy`, or not at all. */
  unconfirmed: async (confirmedBy: string, limit: number): Promise<string[]> =>
    (
      await db.all<{ id: string }>(sql`
        SELECT DISTINCT group_roles.account_id AS id FROM group_roles
        LEFT JOIN passing_openid_confirmations AS confirmation ON confirmation.account_id = group_roles.account_id
        WHERE in_force = 1 AND coalesce(confirmed_at, '') <= ${confirmedBy} LIMIT ${limit}`)
    ).map(({ id }) => id),
});

export const groupRoleChanges = (db: Queries) => ({
  ...groupRoles(db),

  /** Adds a role in force, or puts it in force again. */
  set: (accountId: string, { role, group, since }: Omit<GroupRole, 'inForce'>) =>
    db.run(sql`
      INSERT INTO group_roles (account_id, role, group_name, since, in_force)
      VALUES (${accountId}, ${role}, ${group}, ${since}, 1)
      ON CONFLICT (account_id, role) DO UPDATE SET group_name = excluded.group_name, in_force = 1`),

  /** Marks the roles of an account as not in force. */
  suspend: (accountId: string) => db.run(sql`UPDATE group_roles SET in_force = 0 WHERE account_id = ${accountId}`),

  remove: (accountId: string, role: string) =>
    db.run(sql`DELETE FROM group_roles WHERE account_id = ${accountId} AND role = ${role}`),
});
