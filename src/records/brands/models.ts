// Models: the kinds of device that a brand makes.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface Model {
  brandAccountId: string;
  name: string;
  series: string;
  apiKey: string | null;
  createdAt: string;
  createdBy: string;
  modifiedAt: string | null;
  modifiedBy: string | null;
}

const modelColumns = columns`
  brand_account_id AS "brandAccountId", name, series, api_key AS "apiKey", created_at AS "createdAt",
  created_by AS "createdBy", modified_at AS "modifiedAt", modified_by AS "modifiedBy"`;

export const models = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (brandAccountId: string, name: string) =>
    db.get<Model>(sql`
      SELECT ${modelColumns}
      FROM models WHERE brand_account_id = ${brandAccountId} AND name = ${name}`),

  /** Lists a brand's models, by name. */
  list: (brandAccountId: string) =>
    db.all<Model>(sql`
      SELECT ${modelColumns}
      FROM models WHERE brand_account_id = ${brandAccountId} ORDER BY name`),

  /** Returns the kind of objects that prevent the deletion of a model; undefined if it can be deleted. */
  inUse: async (brandAccountId: string, name: string): Promise<'serial policies' | 'remodel allowlist' | undefined> =>
    (
      await db.get<{ by: 'serial policies' | 'remodel allowlist' }>(sql`
        SELECT 'serial policies' AS by FROM serial_policies
        WHERE brand_account_id = ${brandAccountId} AND model_name = ${name}
        UNION ALL
        SELECT 'remodel allowlist' FROM remodel_allowlist
        WHERE brand_account_id = ${brandAccountId} AND from_model = ${name}
        UNION ALL
        SELECT 'remodel allowlist' FROM remodel_allowlist
        WHERE brand_account_id = ${brandAccountId} AND to_model = ${name}
        LIMIT 1`)
    )?.by,
});

export const modelChanges = (db: Queries) => ({
  ...models(db),

  /** Adds a model. Returns false if the brand has one of that name. */
  claim: async (m: Model) =>
    0 <
    (await db.run(sql`
      INSERT INTO models (brand_account_id, name, series, api_key, created_at, created_by)
      VALUES (${m.brandAccountId}, ${m.name}, ${m.series}, ${m.apiKey}, ${m.createdAt}, ${m.createdBy})
      ON CONFLICT DO NOTHING`)),

  change: (m: Model) =>
    db.run(sql`
      UPDATE models
      SET series = ${m.series}, api_key = ${m.apiKey}, modified_at = ${m.modifiedAt}, modified_by = ${m.modifiedBy}
      WHERE brand_account_id = ${m.brandAccountId} AND name = ${m.name}`),

  remove: (brandAccountId: string, name: string) =>
    db.run(sql`DELETE FROM models WHERE brand_account_id = ${brandAccountId} AND name = ${name}`),
});
