// Set-up links. With such a link, a person sets the password of their account, once.
import { accountColumns, type Account } from './accounts.ts';
import { sql, type Queries } from '#engine/database.ts';

export const setUpLinks = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Finds the account of a link that has not expired by `now`. Disabled accounts are not found. */
  find: (digest: string, now: string) =>
    db.get<Account>(sql`
      SELECT ${accountColumns}
      FROM set_up_links JOIN accounts ON accounts.id = account_id
      WHERE digest = ${digest} AND expires_at > ${now} AND disabled_at IS NULL`),

  /** Returns whether 'larder init' made the link. */
  isFromInit: async (digest: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM set_up_links WHERE digest = ${digest} AND from_init = 1`)),

  anyEnded: async (now: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM set_up_links WHERE expires_at <= ${now} LIMIT 1`)),
});

export const setUpLinkChanges = (db: Queries) => ({
  ...setUpLinks(db),

  /** Makes a link. It replaces an earlier link of the account. */
  set: (accountId: string, digest: string, expiresAt: string, { fromInit = false } = {}) =>
    db.run(sql`
      INSERT INTO set_up_links (digest, account_id, expires_at, from_init)
      VALUES (${digest}, ${accountId}, ${expiresAt}, ${fromInit ? 1 : 0})
      ON CONFLICT (account_id) DO UPDATE
        SET digest = excluded.digest, expires_at = excluded.expires_at, from_init = excluded.from_init`),

  /** Uses a link. Returns false if it was used before. */
  remove: async (digest: string) => 0 < (await db.run(sql`DELETE FROM set_up_links WHERE digest = ${digest}`)),

  forgetEnded: (now: string, limit: number) =>
    db.run(sql`
      DELETE FROM set_up_links WHERE digest IN (
        SELECT digest FROM set_up_links WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${limit})`),

  /** Removes the link of an account, if it has one. */
  removeOf: (accountId: string) => db.run(sql`DELETE FROM set_up_links WHERE account_id = ${accountId}`),
});
