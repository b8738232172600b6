// Quotas: the maximum of packages and bytes of single publishers, and their current use.
import type { Quota } from '#domain/accounts/quota.ts';
import { sql, type Queries } from '#engine/database.ts';

/** The quota of one publisher; null means the default of the configuration. */
export type OwnQuota = { [Member in keyof Quota]: number | null };

export const quotas = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (accountId: string) =>
    db.get<OwnQuota>(sql`SELECT bytes, packages FROM quotas WHERE account_id = ${accountId}`),

  /** Returns the publisher that a package counts for; undefined if the package does not exist. */
  publisherOf: async (packageId: string) =>
    (await db.get<{ id: string }>(sql`SELECT publisher_id AS id FROM packages WHERE id = ${packageId}`))?.id,

  /** Returns how many packages an account publishes. */
  packages: async (accountId: string) =>
    (await db.get<{ packages: number }>(sql`SELECT packages FROM publishers WHERE publisher_id = ${accountId}`))
      ?.packages ?? 0,

  /** Returns the bytes of all packages of a publisher and of pending uploads, each content once. */
  bytes: async (accountId: string) =>
    (await db.get<{ bytes: number }>(sql`SELECT bytes FROM publisher_figures WHERE publisher_id = ${accountId}`))
      ?.bytes ?? 0,

  /** Returns whether a package of the publisher has this content. */
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
