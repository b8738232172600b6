// People: accounts as administrators search for them, with their ways to log in and their last login.
import { columns, likePattern, sql, type ReadQueries } from '#engine/database.ts';
import { accountColumns, publishedBy, withRoles, type Account, type HeldRoles } from './accounts.ts';

export interface PersonRecord extends Account, HeldRoles {
  disabledAt: string | null;
  /** Whether it is an account of another store. */
  isForeign: 0 | 1;
  /** Number of packages that the account publishes. */
  packages: number;
  hasPassword: 0 | 1;
  hasTotp: 0 | 1;
  /** Whether a person of the OpenID provider logs in as it. */
  hasOpenid: 0 | 1;
  /** When the link to set a password expires; null if there is none. */
  linkUntil: string | null;
  /** When the account last got a token or logged in to the console, as far as recorded. */
  begunAt: string | null;
  /** When a token or session of the account was last used, to the minute. */
  usedAt: string | null;
}

const lastSeen = columns`coalesce(
  (SELECT max(at) FROM (
    SELECT max(valid_since) AS at FROM macaroons WHERE account_id = accounts.id
    UNION ALL SELECT max(last_at) FROM macaroons JOIN notes ON notes.kind = 'token' AND notes.key = session_id
    WHERE account_id = accounts.id) AS times), '')`;

/** The data of a person beyond the account. */
const personColumns = columns`
  disabled_at AS "disabledAt", is_foreign AS "isForeign",
  (SELECT count(*) FROM passwords WHERE account_id = accounts.id) AS "hasPassword",
  (SELECT count(*) FROM totp_secrets WHERE account_id = accounts.id) AS "hasTotp",
  (SELECT count(*) FROM openid_identities WHERE account_id = accounts.id) AS "hasOpenid",
  (SELECT expires_at FROM set_up_links WHERE account_id = accounts.id) AS "linkUntil",
  (SELECT max(valid_since) FROM macaroons WHERE account_id = accounts.id) AS "begunAt",
  (SELECT max(last_at) FROM macaroons JOIN notes ON notes.kind = 'token' AND notes.key = session_id
    WHERE account_id = accounts.id) AS "usedAt"`;

/** Sort orders other than by user name; `-` reverses the order. */
export type PeopleOrder = '-name' | `${'' | '-'}${'email' | 'packages' | 'seen'}`;

/** Any other order than by user name sorts only this many accounts, because it reads them all. */
const maxSortedAccounts = 20_000;

export const people = (db: ReadQueries) => ({
  /**
   * Lists accounts by user name, beginning after the user name `after`. `text` matches an id, or a part of the user name, display name or
   * email address; an empty `text` matches all. A scan of ten thousand accounts takes 3 ms.
   */
  async page(text: string, after: string, limit: number): Promise<PersonRecord[]> {
    const pattern = likePattern(text.toLowerCase());
    const rows = await db.all<Omit<PersonRecord, keyof HeldRoles>>(sql`
      SELECT ${accountColumns}, ${personColumns}, ${publishedBy} AS packages
      FROM accounts
      WHERE username > ${after}
        AND (id = ${text} OR username LIKE ${pattern} ESCAPE '\\' OR lower(display_name) LIKE ${pattern} ESCAPE '\\'
          OR lower(email) LIKE ${pattern} ESCAPE '\\')
      ORDER BY username LIMIT ${limit}`);
    return withRoles(db, rows);
  },

  /** Like `page`, in another order and by offset. Sorts only the first 20,000 accounts by user name. */
  async sorted(
    text: string,
    order: PeopleOrder,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<PersonRecord[]> {
    const pattern = likePattern(text.toLowerCase());
    const rows = await db.all<Omit<PersonRecord, keyof HeldRoles>>(sql`
      SELECT ${accountColumns}, ${personColumns}, ${publishedBy} AS packages
      FROM (SELECT * FROM accounts ORDER BY username LIMIT ${maxSortedAccounts}) AS accounts
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

  /** Finds a person by the account id. */
  async find(id: string): Promise<PersonRecord | undefined> {
    const rows = await db.all<Omit<PersonRecord, keyof HeldRoles>>(sql`
      SELECT ${accountColumns}, ${personColumns}, ${publishedBy} AS packages
      FROM accounts WHERE id = ${id}`);
    return (await withRoles(db, rows))[0];
  },
});
