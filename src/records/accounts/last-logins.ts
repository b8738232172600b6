// The last login of each account and the one before it, so that people notice a login that is not theirs.
import { sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface EarlierLogin {
  /** When the account logged in before its last login, and from where; null if it never did. */
  at: string | null;
  address: string | null;
  /** Failed logins between the two. */
  failedCount: number;
}

export const lastLogins = (db: Pick<ReadQueries, 'get'>) => ({
  /** Finds the login before the last one. */
  earlier: (accountId: string) =>
    db.get<EarlierLogin>(sql`
      SELECT earlier_at AS at, earlier_address AS address, failed_between AS "failedCount"
      FROM last_logins WHERE account_id = ${accountId}`),
});

export const lastLoginChanges = (db: Queries) => ({
  /** Records a login. Failed ones are counted in `notes`. */
  async add(accountId: string, { at, address }: { at: string; address: string }) {
    const counter = await db.get<{ count: number }>(sql`
      SELECT count FROM notes WHERE kind = 'login-failed' AND key = ${accountId}`);
    const failed = counter?.count ?? 0;
    await db.write(sql`
      INSERT INTO last_logins (account_id, at, address, failed_count, failed_between)
      VALUES (${accountId}, ${at}, ${address}, ${failed}, ${failed})
      ON CONFLICT (account_id) DO UPDATE SET
        earlier_at = last_logins.at, earlier_address = last_logins.address,
        failed_between = excluded.failed_count - last_logins.failed_count,
        at = excluded.at, address = excluded.address, failed_count = excluded.failed_count`);
  },
});
