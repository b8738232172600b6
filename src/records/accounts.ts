// Accounts: the people who publish, and their roles.
import { sql, type Queries } from '#engine/database.ts';

export interface Account {
  id: string;
  username: string;
  displayName: string;
  email: string;
  validation: string;
  createdAt: string;
}

export const accounts = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (id: string) =>
    db.get<Account>(sql`
      SELECT id, username, display_name AS "displayName", email, validation, created_at AS "createdAt"
      FROM accounts WHERE id = ${id}`),

  /** The account that logs in under a name: its user name, or its e-mail address in any case. A disabled one does not. */
  logsInAs: (name: string) =>
    db.get<Account>(sql`
      SELECT id, username, display_name AS "displayName", email, validation, created_at AS "createdAt"
      FROM accounts WHERE (username = ${name} OR lower(email) = lower(${name})) AND disabled_at IS NULL
      ORDER BY CASE WHEN username = ${name} THEN 0 ELSE 1 END LIMIT 1`),

  /** Since when an account is disabled; null when it is not. */
  disabledAt: async (id: string) =>
    (
      await db.get<{ disabledAt: string | null }>(
        sql`SELECT disabled_at AS "disabledAt" FROM accounts WHERE id = ${id}`,
      )
    )?.disabledAt ?? null,

  /** The roles that an account holds: `store-admin`, and `brand-admin:<brand>` for each brand. */
  async rolesOf(id: string): Promise<string[]> {
    const rows = await db.all<{ role: string }>(sql`
      SELECT 'store-admin' AS role FROM store_administrators WHERE account_id = ${id}
      UNION ALL
      SELECT 'brand-admin:' || brand_account_id FROM brand_administrators WHERE account_id = ${id}`);
    return rows.map(({ role }) => role);
  },

  /** The account of this e-mail address, whose letters' case does not matter to those who write it. */
  byEmail: (email: string) =>
    db.get<Account>(sql`
      SELECT id, username, display_name AS "displayName", email, validation, created_at AS "createdAt"
      FROM accounts WHERE lower(email) = lower(${email}) LIMIT 1`),

  /** These accounts, by id. */
  async byIds(ids: (string | null)[]): Promise<Map<string, Account>> {
    const wanted = [...new Set(ids)].filter((id) => id !== null);
    const rows = await db.all<Account>(sql`
      SELECT accounts.id, username, display_name AS "displayName", email, validation, created_at AS "createdAt"
      FROM json_each(${JSON.stringify(wanted)}) AS wanted CROSS JOIN accounts ON accounts.id = wanted.value`);
    return new Map(rows.map((account) => [account.id, account]));
  },

  /** Every account in the order of creation, with the roles it holds and since when it is disabled. */
  async list(): Promise<(Account & { roles: string[]; disabledAt: string | null })[]> {
    const rows = await db.all<Account & { disabledAt: string | null; admin: number; brands: string | null }>(sql`
      SELECT id, username, display_name AS "displayName", email, validation, created_at AS "createdAt",
        disabled_at AS "disabledAt",
        EXISTS (SELECT 1 FROM store_administrators WHERE account_id = id) AS admin,
        (SELECT json_group_array(brand_account_id) FROM brand_administrators WHERE account_id = id) AS brands
      FROM accounts ORDER BY created_at, id`);
    return rows.map(({ admin, brands, ...account }) => ({
      ...account,
      roles: [
        ...(admin === 1 ? ['store-admin'] : []),
        ...(JSON.parse(brands ?? '[]') as string[]).map((brand) => `brand-admin:${brand}`),
      ],
    }));
  },

  /** Which of id, username and e-mail already belongs to somebody. */
  async taken(account: Pick<Account, 'id' | 'username' | 'email'>): Promise<'id' | 'username' | 'email' | undefined> {
    const row = await db.get<{ which: 'id' | 'username' | 'email' }>(sql`
      SELECT CASE WHEN id = ${account.id} THEN 'id' WHEN username = ${account.username} THEN 'username' ELSE 'email' END AS which
      FROM accounts WHERE id = ${account.id} OR username = ${account.username} OR email = ${account.email} LIMIT 1`);
    return row?.which;
  },

  /** Whether anybody else than this account administers the store and is let in. */
  isOtherAdministrator: async (id: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM store_administrators JOIN accounts ON accounts.id = account_id
      WHERE account_id <> ${id} AND disabled_at IS NULL LIMIT 1`)),

  /** The moment before which nothing that let the account in is good any more; null when there is none. */
  tokensEndedAt: async (id: string) =>
    (await db.get<{ endedAt: string | null }>(sql`SELECT tokens_ended_at AS "endedAt" FROM accounts WHERE id = ${id}`))
      ?.endedAt ?? null,

  /** Whether this store made the id itself, so that the online store knows nobody of it. */
  isIdMadeHere: async (id: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM accounts WHERE id = ${id} AND id_made_here = 1`)),

  isStoreAdministrator: async (id: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM store_administrators WHERE account_id = ${id}`)),
});

export const accountChanges = (db: Queries) => ({
  ...accounts(db),

  /** Adds an account; `idMadeHere` where this store made its id. */
  add: ({ id, username, displayName, email, validation, createdAt }: Account, { idMadeHere = false } = {}) =>
    db.run(sql`
      INSERT INTO accounts (id, username, display_name, email, validation, created_at, id_made_here)
      VALUES (${id}, ${username}, ${displayName}, ${email}, ${validation}, ${createdAt}, ${idMadeHere ? 1 : 0})`),

  makeStoreAdministrator: (id: string, since: string) =>
    db.run(sql`INSERT INTO store_administrators (account_id, since) VALUES (${id}, ${since}) ON CONFLICT DO NOTHING`),

  /** Disables an account; one that is disabled already stays so since the first time. */
  disable: (id: string, at: string) =>
    db.run(sql`UPDATE accounts SET disabled_at = COALESCE(disabled_at, ${at}) WHERE id = ${id}`),

  enable: (id: string) => db.run(sql`UPDATE accounts SET disabled_at = NULL WHERE id = ${id}`),

  endStoreAdministrator: (id: string) => db.run(sql`DELETE FROM store_administrators WHERE account_id = ${id}`),
});
