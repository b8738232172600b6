// Secrets of one-time passwords: one to an account, sealed under the site key.
import { sql, type Queries } from '#engine/database.ts';

export interface TotpSecret {
  sealed: string;
  since: string;
}

export const totpSecrets = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (accountId: string) =>
    db.get<TotpSecret>(sql`SELECT sealed, since FROM totp_secrets WHERE account_id = ${accountId}`),
});

export const totpSecretChanges = (db: Queries) => ({
  ...totpSecrets(db),

  set: (accountId: string, sealed: string, since: string) =>
    db.run(sql`
      INSERT INTO totp_secrets (account_id, sealed, since) VALUES (${accountId}, ${sealed}, ${since})
      ON CONFLICT (account_id) DO UPDATE SET sealed = excluded.sealed, since = excluded.since, used_step = 0`),

  remove: async (accountId: string) =>
    0 < (await db.run(sql`DELETE FROM totp_secrets WHERE account_id = ${accountId}`)),

  /** Marks a time step as used; false when it, or a later one, was used before. */
  use: async (accountId: string, step: number) =>
    0 <
    (await db.run(
      sql`UPDATE totp_secrets SET used_step = ${step} WHERE account_id = ${accountId} AND used_step < ${step}`,
    )),
});
