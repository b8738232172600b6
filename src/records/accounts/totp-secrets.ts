// Secrets of one-time passwords, one per account, sealed with the site key, and the digests of recovery codes. Each code replaces a
// one-time password once.
import { sql, type Queries } from '#engine/database.ts';

export interface TotpSecret {
  sealed: string;
  since: string;
  /** A JSON list of the digests of unused recovery codes. */
  recovery: string;
}

export const totpSecrets = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (accountId: string) =>
    db.get<TotpSecret>(sql`SELECT sealed, since, recovery FROM totp_secrets WHERE account_id = ${accountId}`),
});

export const totpSecretChanges = (db: Queries) => ({
  ...totpSecrets(db),

  /** Sets a new secret, without recovery codes. */
  set: (accountId: string, sealed: string, since: string) =>
    db.run(sql`
      INSERT INTO totp_secrets (account_id, sealed, since) VALUES (${accountId}, ${sealed}, ${since})
      ON CONFLICT (account_id) DO UPDATE
        SET sealed = excluded.sealed, since = excluded.since, used_step = 0, recovery = '[]'`),

  /** Replaces the recovery codes, given by their digests. */
  setRecovery: (accountId: string, digests: readonly string[]) =>
    db.run(sql`UPDATE totp_secrets SET recovery = ${JSON.stringify(digests)} WHERE account_id = ${accountId}`),

  /** Uses a recovery code. Returns how many are left; undefined if the code is invalid or was used before. */
  async useRecovery(accountId: string, digest: string): Promise<number | undefined> {
    const row = await db.get<{ recovery: string }>(sql`
      SELECT recovery FROM totp_secrets WHERE account_id = ${accountId}`);
    const digests = JSON.parse(row?.recovery ?? '[]') as string[];
    const left = digests.filter((unused) => unused !== digest);
    if (left.length === digests.length) return undefined;
    await db.run(sql`UPDATE totp_secrets SET recovery = ${JSON.stringify(left)} WHERE account_id = ${accountId}`);
    return left.length;
  },

  remove: async (accountId: string) =>
    0 < (await db.run(sql`DELETE FROM totp_secrets WHERE account_id = ${accountId}`)),

  /** Marks a time step as used. Returns false if this step or a later one was used before. */
  use: async (accountId: string, step: number) =>
    0 <
    (await db.run(
      sql`UPDATE totp_secrets SET used_step = ${step} WHERE account_id = ${accountId} AND used_step < ${step}`,
    )),
});
