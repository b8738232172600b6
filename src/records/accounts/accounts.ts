// Accounts: publishers and their roles.
import { columns, list, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface Account {
  id: string;
  username: string;
  displayName: string;
  email: string;
  validation: string;
  createdAt: string;
}

/** Roles that are assigned to accounts and do not belong to a brand. */
export type AssignedRole = 'transfer-approver' | 'auditor';

/** The last change of an account, its roles or its credentials. */
export interface AccountTouch {
  at: string;
  /** The actor as in the audit log: an account id, `cli:<user>`, or `larder` for the store itself. */
  by: string;
  /** The name of the act. */
  what: string;
}

/** The public data of an account. */
export const accountColumns = columns`id, username, display_name AS "displayName", email, validation, created_at AS "createdAt"`;

/** The number of packages that an account of `accounts` publishes. */
export const publishedBy = columns`coalesce((SELECT packages FROM publishers WHERE publisher_id = accounts.id), 0)`;

const isLocalAdministrator = columns`
  NOT EXISTS (
    SELECT 1 FROM group_roles WHERE group_roles.account_id = administrator.account_id AND group_roles.role = 'store-admin')`;

export const accounts = (db: ReadQueries) => ({
  find: (id: string) =>
    db.get<Account>(sql`
      SELECT ${accountColumns}
      FROM accounts WHERE id = ${id}`),

  /** Finds the account with this id, user name or email address (in any case), in this order, including disabled accounts. */
  findByName: (name: string) =>
    db.get<Account>(sql`
      SELECT ${accountColumns}
      FROM accounts WHERE id = ${name} OR username = ${name} OR lower(email) = lower(${name})
      ORDER BY CASE WHEN id = ${name} THEN 0 WHEN username = ${name} THEN 1 ELSE 2 END LIMIT 1`),

  /** Finds the account that logs in under a user name, or under an email address in any case. Disabled accounts are not found. */
  logsInAs: (name: string) =>
    db.get<Account>(sql`
      SELECT ${accountColumns}
      FROM accounts WHERE (username = ${name} OR lower(email) = lower(${name})) AND disabled_at IS NULL
      ORDER BY CASE WHEN username = ${name} THEN 0 ELSE 1 END LIMIT 1`),

  /** Returns since when an account is disabled; null if it is not. */
  disabledAt: async (id: string) =>
    (
      await db.get<{ disabledAt: string | null }>(
        sql`SELECT disabled_at AS "disabledAt" FROM accounts WHERE id = ${id}`,
      )
    )?.disabledAt ?? null,

  /** Returns the roles of an account: `store-admin`, assigned roles, and `brand-admin:<brand>` for each brand. */
  rolesOf: async (id: string) => (await rolesOf(db, [id])).get(id) ?? [],

  /** Finds the account with this email address in any case. */
  byEmail: (email: string) =>
    db.get<Account>(sql`
      SELECT ${accountColumns}
      FROM accounts WHERE lower(email) = lower(${email}) LIMIT 1`),

  /** Lists at most two accounts of this store with this user name or, in any case, with this email address; disabled ones too. */
  ownNamed: ({ username, email }: { username: string; email: string }) =>
    db.all<Account>(sql`
      SELECT ${accountColumns} FROM accounts
      WHERE (username = ${username} OR lower(email) = ${email}) AND is_foreign = 0 LIMIT 2`),

  /** Returns these accounts by id. */
  async byIds(ids: (string | null)[]): Promise<Map<string, Account>> {
    const distinctIds = [...new Set(ids)].filter((id) => id !== null);
    const rows = await db.all<Account>(sql`
      SELECT ${accountColumns}
      FROM accounts WHERE id IN ${list(distinctIds)}`);
    return new Map(rows.map((account) => [account.id, account]));
  },

  /**
   * Lists all accounts in the order of creation, with their roles, since when they are disabled, and whether they belong to another store.
   */
  async list(): Promise<(Account & HeldRoles & { disabledAt: string | null; isForeign: 0 | 1 })[]> {
    const rows = await db.all<Account & { disabledAt: string | null; isForeign: 0 | 1 }>(sql`
      SELECT ${accountColumns}, disabled_at AS "disabledAt", is_foreign AS "isForeign" FROM accounts ORDER BY created_at, id`);
    return withRoles(db, rows);
  },

  /** Returns which of id, user name and email address is already taken. */
  async taken(account: Pick<Account, 'id' | 'username' | 'email'>): Promise<'id' | 'username' | 'email' | undefined> {
    const row = await db.get<{ which: 'id' | 'username' | 'email' }>(sql`
      SELECT CASE WHEN id = ${account.id} THEN 'id' WHEN username = ${account.username} THEN 'username' ELSE 'email' END AS which
      FROM accounts WHERE id = ${account.id} OR username = ${account.username} OR email = ${account.email} LIMIT 1`);
    return row?.which ?? ((await isFormerName(db, account)) ? 'username' : undefined);
  },

  /** Returns which of an account's user name and email address is taken by another account, in words. */
  async takenFrom(account: Pick<Account, 'id' | 'username' | 'email'>): Promise<string | undefined> {
    const row = await db.get<{ username: string }>(sql`
      SELECT username FROM accounts
      WHERE id <> ${account.id} AND (username = ${account.username} OR email = ${account.email}) LIMIT 1`);
    const isName = row?.username === account.username || (await isFormerName(db, account));
    if (isName) return `user name '${account.username}'`;
    return row === undefined ? undefined : `e-mail address '${account.email}'`;
  },

  /** Returns whether another enabled account administers the store, and not because of a group of the OpenID provider. */
  isOtherAdministrator: async (id: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM store_administrators AS administrator JOIN accounts ON accounts.id = account_id
      WHERE account_id <> ${id} AND disabled_at IS NULL AND ${isLocalAdministrator} LIMIT 1`)),

  /** Returns whether the account administers the store, and not because of a group of the OpenID provider. */
  isLocalAdministrator: async (id: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM store_administrators AS administrator WHERE account_id = ${id} AND ${isLocalAdministrator}`)),

  /** Returns the time before which all tokens and logins of the account are invalid; null if there is none. */
  tokensEndedAt: async (id: string) =>
    (await db.get<{ endedAt: string | null }>(sql`SELECT tokens_ended_at AS "endedAt" FROM accounts WHERE id = ${id}`))
      ?.endedAt ?? null,

  /** Returns whether this store made the id itself, so that the online store does not know it. */
  isIdMadeHere: async (id: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM accounts WHERE id = ${id} AND id_made_here = 1`)),

  /** Returns whether the account belongs to another store and is known from an import or a transfer. */
  isForeign: async (id: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM accounts WHERE id = ${id} AND is_foreign = 1`)),

  /** Lists the enabled accounts with this assigned role. */
  holders: (role: AssignedRole) =>
    db.all<Account>(sql`
      SELECT ${accountColumns} FROM accounts
      WHERE id IN (SELECT account_id FROM account_roles WHERE role = ${role}) AND disabled_at IS NULL ORDER BY username`),

  /** Returns the last change of an account, its credentials or its roles. */
  touched: (id: string) =>
    db.get<AccountTouch>(sql`SELECT at, by, what FROM touched_accounts WHERE account_id = ${id}`),

  isStoreAdministrator: async (id: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM store_administrators WHERE account_id = ${id}`)),
});

/** Returns the roles of these accounts by id: first `store-admin`, then assigned roles, then roles for brands. */
async function rolesOf(db: ReadQueries, ids: string[]): Promise<Map<string, string[]>> {
  const rows = await db.all<{ id: string; role: string }>(sql`
    SELECT account_id AS id, 'store-admin' AS role FROM store_administrators WHERE account_id IN ${list(ids)}
    UNION ALL
    SELECT account_id, role FROM account_roles WHERE account_id IN ${list(ids)}
    UNION ALL
    SELECT account_id, 'brand-admin:' || brand_account_id FROM brand_administrators WHERE account_id IN ${list(ids)}`);
  const roles = new Map<string, string[]>();
  for (const { id, role } of rows) roles.set(id, [...(roles.get(id) ?? []), role]);
  return roles;
}

/** The roles of an account. */
export interface HeldRoles {
  roles: string[];
  /** The group of each of these roles that the OpenID provider gives. */
  groupRoles: { role: string; group: string }[];
}

/** Adds the roles to accounts. */
export async function withRoles<One extends Account>(
  db: ReadQueries,
  some: readonly One[],
): Promise<(One & HeldRoles)[]> {
  const ids = some.map(({ id }) => id);
  const roles = await rolesOf(db, ids);
  const ofGroups = await db.all<{ id: string; role: string; group: string }>(sql`
    SELECT account_id AS id, role, group_name AS "group" FROM group_roles
    WHERE account_id IN ${list(ids)} AND in_force = 1 ORDER BY role`);
  return some.map((account) => ({
    ...account,
    roles: roles.get(account.id) ?? [],
    groupRoles: ofGroups.filter(({ id }) => id === account.id).map(({ role, group }) => ({ role, group })),
  }));
}

/** Returns whether a user name once belonged to another account. */
const isFormerName = async (db: Pick<ReadQueries, 'get'>, { id, username }: Pick<Account, 'id' | 'username'>) =>
  undefined !==
  (await db.get(sql`SELECT 1 FROM former_usernames WHERE username = ${username} AND account_id <> ${id}`));

export const accountChanges = (db: Queries) => ({
  ...accounts(db),

  /** Adds an account. `idMadeHere` says whether this store made its id. */
  add: ({ id, username, displayName, email, validation, createdAt }: Account, { idMadeHere = false } = {}) =>
    db.run(sql`
      INSERT INTO accounts (id, username, display_name, email, validation, created_at, id_made_here)
      VALUES (${id}, ${username}, ${displayName}, ${email}, ${validation}, ${createdAt}, ${idMadeHere ? 1 : 0})`),

  /** Adds an account of another store, which cannot log in here. */
  addForeign: ({ id, username, displayName, email, validation, createdAt }: Account) =>
    db.run(sql`
      INSERT INTO accounts (id, username, display_name, email, validation, created_at, disabled_at, is_foreign)
      VALUES (${id}, ${username}, ${displayName}, ${email}, ${validation}, ${createdAt}, ${createdAt}, 1)`),

  /** Turns an account of another store into an enabled account of this store. */
  makeOwn: (id: string) => db.run(sql`UPDATE accounts SET is_foreign = 0, disabled_at = NULL WHERE id = ${id}`),

  update: ({ id, username, displayName, email, validation }: Account) =>
    db.run(sql`
      UPDATE accounts SET username = ${username}, display_name = ${displayName}, email = ${email}, validation = ${validation}
      WHERE id = ${id}`),

  /** Reserves a user name that an account gives up, so that no other account gets it. */
  keepFormerUsername: (username: string, id: string, until: string) =>
    db.run(sql`
      INSERT INTO former_usernames (username, account_id, until) VALUES (${username}, ${id}, ${until})
      ON CONFLICT (username) DO UPDATE SET until = excluded.until`),

  makeStoreAdministrator: (id: string, since: string) =>
    db.run(sql`INSERT INTO store_administrators (account_id, since) VALUES (${id}, ${since}) ON CONFLICT DO NOTHING`),

  /** Disables an account. If it is disabled already, the first time stays. */
  disable: (id: string, at: string) =>
    db.run(sql`UPDATE accounts SET disabled_at = COALESCE(disabled_at, ${at}) WHERE id = ${id}`),

  enable: (id: string) => db.run(sql`UPDATE accounts SET disabled_at = NULL WHERE id = ${id}`),

  assign: (id: string, role: AssignedRole, since: string) =>
    db.run(sql`
      INSERT INTO account_roles (account_id, role, since) VALUES (${id}, ${role}, ${since}) ON CONFLICT DO NOTHING`),

  unassign: (id: string, role: AssignedRole) =>
    db.run(sql`DELETE FROM account_roles WHERE account_id = ${id} AND role = ${role}`),

  /** Records the last change of an account. */
  touch: (id: string, { at, by: actor, what: act }: AccountTouch) =>
    db.run(sql`
      INSERT INTO touched_accounts (account_id, at, by, what) VALUES (${id}, ${at}, ${actor}, ${act})
      ON CONFLICT (account_id) DO UPDATE SET at = excluded.at, by = excluded.by, what = excluded.what`),

  endStoreAdministrator: (id: string) => db.run(sql`DELETE FROM store_administrators WHERE account_id = ${id}`),
});
