// Quotas: how much single publishers may have in the store, and how much they have.
import type { Quota } from '#domain/quota.ts';
import { sql, type Queries } from '#engine/database.ts';

/** What is set for one publisher; nothing where the configuration decides. */
export type OwnQuota = { [Member in keyof Quota]: number | null };

export const quotas = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (accountId: string) =>
    db.get<OwnQuota>(sql`SELECT bytes, packages FROM quotas WHERE account_id = ${accountId}`),

  /** The publisher whose quota a package counts for; nothing where the package is gone. */
  publisherOf: async (packageId: string) =>
    (await db.get<{ id: string }>(sql`SELECT publisher_id AS id FROM packages WHERE id = ${packageId}`))?.id,

  /** How many packages an account publishes. */
  packages: async (accountId: string) =>
    (await db.get<{ packages: number }>(sql`SELECT packages FROM publishers WHERE publisher_id = ${accountId}`))
      ?.packages ?? 0,

  /** The bytes that all packages of a publisher keep, and uploads that are not decided yet, each content once. */
  bytes: async (accountId: string) =>
    (await db.get<{ bytes: number }>(sql`SELECT bytes FROM publisher_figures WHERE publisher_id = ${accountId}`))
      ?.bytes ?? 0,

  /** Whether one of a publisher's packages keeps this content. */
  holds: async (accountId: string, sha3_384: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM kept_contents JOIN package_figures AS owner ON owner.package_id = kept_contents.package_id
      WHERE sha3_384 = ${sha3_384} AND publisher_id = ${accountId} LIMIT 1`)),
});

export const quotaChanges = (db: Queries) => ({
  ...quotas(db),

  set: (accountId: string, { bytes, packages }: OwnQuota) =>
    db.run(sql`
      INSERT INTO quotas (account_id, bytes, packages) VALUES (${accountId}, ${bytes}, ${packages})
      ON CONFLICT (account_id) DO UPDATE SET bytes = excluded.bytes, packages = excluded.packages`),
});
