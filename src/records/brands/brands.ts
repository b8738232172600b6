// Brands: accounts that own device models, and their administrators.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface Brand {
  accountId: string;
  name: string;
  createdAt: string;
  createdBy: string;
  modifiedAt: string | null;
  modifiedBy: string | null;
}

const brandColumns = columns`
  account_id AS "accountId", name, created_at AS "createdAt", created_by AS "createdBy",
  modified_at AS "modifiedAt", modified_by AS "modifiedBy"`;

export const brands = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (accountId: string) =>
    db.get<Brand>(sql`
      SELECT ${brandColumns}
      FROM brands WHERE account_id = ${accountId}`),

  list: () =>
    db.all<Brand>(sql`
      SELECT ${brandColumns}
      FROM brands ORDER BY account_id`),

  /** Returns whether an account administers a brand. The brand's own account always does. */
  isAdministrator: async (brandAccountId: string, accountId: string) =>
    brandAccountId === accountId ||
    undefined !==
      (await db.get(sql`
        SELECT 1 FROM brand_administrators WHERE brand_account_id = ${brandAccountId} AND account_id = ${accountId}`)),

  /** Lists the other brands that an account administers, at most a hundred. */
  administeredBy: async (accountId: string): Promise<string[]> =>
    (
      await db.all<{ id: string }>(sql`
        SELECT brand_account_id AS id FROM brand_administrators WHERE account_id = ${accountId}
        ORDER BY brand_account_id LIMIT 100`)
    ).map(({ id }) => id),

  /** Returns the kind of objects that prevent the deletion of a brand; undefined if it can be deleted. */
  inUse: async (brandAccountId: string): Promise<'models' | 'signing keys' | undefined> =>
    (
      await db.get<{ by: 'models' | 'signing keys' }>(sql`
        SELECT 'models' AS by FROM models WHERE brand_account_id = ${brandAccountId}
        UNION ALL SELECT 'signing keys' FROM signing_keys WHERE brand_account_id = ${brandAccountId} LIMIT 1`)
    )?.by,
});

export const brandChanges = (db: Queries) => ({
  ...brands(db),

  /** Makes an account a brand. Returns false if it is one already. */
  claim: async (brand: Brand) =>
    0 <
    (await db.run(sql`
      INSERT INTO brands (account_id, name, created_at, created_by)
      VALUES (${brand.accountId}, ${brand.name}, ${brand.createdAt}, ${brand.createdBy})
      ON CONFLICT DO NOTHING`)),

  rename: (brand: Brand) =>
    db.run(sql`
      UPDATE brands SET name = ${brand.name}, modified_at = ${brand.modifiedAt}, modified_by = ${brand.modifiedBy}
      WHERE account_id = ${brand.accountId}`),

  remove: (accountId: string) => db.run(sql`DELETE FROM brands WHERE account_id = ${accountId}`),

  addAdministrator: (brandAccountId: string, accountId: string, since: string) =>
    db.run(sql`
      INSERT INTO brand_administrators (brand_account_id, account_id, since)
      VALUES (${brandAccountId}, ${accountId}, ${since})
      ON CONFLICT DO NOTHING`),

  removeAdministrator: (brandAccountId: string, accountId: string) =>
    db.run(sql`
      DELETE FROM brand_administrators WHERE brand_account_id = ${brandAccountId} AND account_id = ${accountId}`),
});
