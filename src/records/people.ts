// People: the accounts as somebody looks for them who administers the store, with how they log in and when they last did.
import { columns, holding, sql, type Reading } from '#engine/database.ts';
import { accountColumns, publishedBy, withRoles, type Account } from './accounts.ts';

export interface Person extends Account {
  roles: string[];
  disabledAt: string | null;
  /** Whether it is an account of another store. */
  isForeign: 0 | 1;
  /** How many he publishes. */
  packages: number;
  hasPassword: 0 | 1;
  hasTotp: 0 | 1;
  /** Until when a link is good with which he sets his password; null where there is none. */
  linkUntil: string | null;
  /** When he last got a token or logged in to the console, as far as that is remembered. */
  begunAt: string | null;
  /** When a token or a session of his was last used, to the minute. */
  usedAt: string | null;
}

const lastSeen = columns`coalesce(
  (SELECT max(at) FROM (
    SELECT max(valid_since) AS at FROM macaroons WHERE account_id = accounts.id
    UNION ALL SELECT max(last_at) FROM macaroons JOIN notes ON notes.kind = 'token' AND notes.key = session_id
    WHERE account_id = accounts.id) AS times), '')`;

/** What is told of somebody beside his account. */
const personColumns = columns`
  disabled_at AS "disabledAt", is_foreign AS "isForeign",
  (SELECT count(*) FROM passwords WHERE account_id = accounts.id) AS "hasPassword",
  (SELECT count(*) FROM totp_secrets WHERE account_id = accounts.id) AS "hasTotp",
  (SELECT expires_at FROM set_up_links WHERE account_id = accounts.id) AS "linkUntil",
  (SELECT max(valid_since) FROM macaroons WHERE account_id = accounts.id) AS "begunAt",
  (SELECT max(last_at) FROM macaroons JOIN notes ON notes.kind = 'token' AND notes.key = session_id
    WHERE account_id = accounts.id) AS "usedAt"`;

/** By what they can be sorted beside their user names; `-` turns it round. */
export type PeopleOrder = '-name' | `${'' | '-'}${'email' | 'packages' | 'seen'}`;

/** So many are sorted, by another order than that of their names. */
const mostSorted = 20_000;

export const people = (db: Reading) => ({
  /**
   * Accounts in the order of their user names, behind one of them: all, or those that have a text in their user name, display name
   * or e-mail address, or are called that by their id. To look through ten thousand takes 3 ms.
   */
  async page(text: string, after: string, limit: number): Promise<Person[]> {
    const pattern = holding(text.toLowerCase());
    const rows = await db.all<Omit<Person, 'roles'>>(sql`
      SELECT ${accountColumns}, ${personColumns}, ${publishedBy} AS packages
      FROM accounts
      WHERE username > ${after}
        AND (id = ${text} OR username LIKE ${pattern} ESCAPE '\\' OR lower(display_name) LIKE ${pattern} ESCAPE '\\'
          OR lower(email) LIKE ${pattern} ESCAPE '\\')
      ORDER BY username LIMIT ${limit}`);
    return withRoles(db, rows);
  },

  /** The same in another order, so many behind so many; sorted are the first 20,000 by user name. */
  async sorted(
    text: string,
    order: PeopleOrder,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<Person[]> {
    const pattern = holding(text.toLowerCase());
    const rows = await db.all<Omit<Person, 'roles'>>(sql`
      SELECT ${accountColumns}, ${personColumns}, ${publishedBy} AS packages
      FROM (SELECT * FROM accounts ORDER BY username LIMIT ${mostSorted}) AS accounts
      WHERE id = ${text} OR username LIKE ${pattern} ESCAPE '\\' OR lower(display_name) LIKE ${pattern} ESCAPE '\\'
        OR lower(email) LIKE ${pattern} ESCAPE '\\'
      ORDER BY
        CASE ${order} WHEN 'email' THEN email WHEN 'seen' THEN ${lastSeen} END,
        CASE ${order} WHEN '-name' THEN username WHEN '-email' THEN email WHEN '-seen' THEN ${lastSeen} END DESC,
        CASE ${order} WHEN 'packages' THEN ${publishedBy} END,
        CASE ${order} WHEN '-packages' THEN ${publishedBy} END DESC,
        username
      LIMIT ${limit} OFFSET ${offset}`);
    return withRoles(db, rows);
  },

  /** One of them, by the id of the account. */
  async find(id: string): Promise<Person | undefined> {
    const rows = await db.all<Omit<Person, 'roles'>>(sql`
      SELECT ${accountColumns}, ${personColumns}, ${publishedBy} AS packages
      FROM accounts WHERE id = ${id}`);
    return (await withRoles(db, rows))[0];
  },
});
