// Passwords: one per account, stored as a PHC string.
import { sql, type Queries } from '#engine/database.ts';

export interface PasswordRecord {
  hash: string;
  changedAt: string;
}

export const passwords = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (accountId: string) =>
    db.get<PasswordRecord>(sql`SELECT hash, changed_at AS "changedAt" FROM passwords WHERE account_id = ${accountId}`),
});

export const passwordChanges = (db: Queries) => ({
  ...passwords(db),

  set: (accountId: string, hash: string, at: string) =>
    db.run(sql`
      INSERT INTO passwords (account_id, hash, changed_at) VALUES (${accountId}, ${hash}, ${at})
      ON CONFLICT (account_id) DO UPDATE SET hash = excluded.hash, changed_at = excluded.changed_at`),

  /** Stores a new hash of the same password, unless the password was changed in the meantime. */
  rehash: (accountId: string, before: string, hash: string) =>
    db.run(sql`UPDATE passwords SET hash = ${hash} WHERE account_id = ${accountId} AND hash = ${before}`),
});
