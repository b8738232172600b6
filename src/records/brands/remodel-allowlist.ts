// The remodel allowlist: the changes from one model (or one serial of it) to another model that a brand allows.
import { columns, sql, type Queries } from '#engine/database.ts';

/** A change of a device from one model to another. Identifies an entry of the allowlist. Without a serial it means all devices of the model. */
export interface Remodel {
  fromModel: string;
  fromSerial: string | null;
  toModel: string;
}

export interface RemodelEntry extends Remodel {
  description: string | null;
  createdAt: string;
  createdBy: string;
  modifiedAt: string | null;
  modifiedBy: string | null;
}

type RemodelRow = RemodelEntry & { fromSerial: string };

const asEntry = (row: RemodelRow): RemodelEntry => ({
  ...row,
  fromSerial: row.fromSerial === '' ? null : row.fromSerial,
});

const remodelColumns = columns`
  from_model AS "fromModel", from_serial AS "fromSerial", to_model AS "toModel", description,
  created_at AS "createdAt", created_by AS "createdBy", modified_at AS "modifiedAt", modified_by AS "modifiedBy"`;

export const remodelAllowlist = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists a brand's entries after the given one, by model, serial and target; `only` filters by models. */
  async list(
    brandAccountId: string,
    after: Remodel | undefined,
    only: { fromModel: string | null; toModel: string | null },
    limit: number,
  ): Promise<RemodelEntry[]> {
    const [model, serial, target] = [after?.fromModel ?? '', after?.fromSerial ?? '', after?.toModel ?? ''];
    const rows = await db.all<RemodelRow>(sql`
      SELECT ${remodelColumns}
      FROM remodel_allowlist
      WHERE brand_account_id = ${brandAccountId} AND (from_model, from_serial, to_model) > (${model}, ${serial}, ${target})
        AND (${only.fromModel} IS NULL OR from_model = ${only.fromModel})
        AND (${only.toModel} IS NULL OR to_model = ${only.toModel})
      ORDER BY from_model, from_serial, to_model LIMIT ${limit}`);
    return rows.map(asEntry);
  },

  async find(brandAccountId: string, { fromModel, fromSerial, toModel }: Remodel): Promise<RemodelEntry | undefined> {
    const row = await db.get<RemodelRow>(sql`
      SELECT ${remodelColumns}
      FROM remodel_allowlist
      WHERE brand_account_id = ${brandAccountId} AND from_model = ${fromModel} AND from_serial = ${fromSerial ?? ''}
        AND to_model = ${toModel}`);
    return row && asEntry(row);
  },

  /** Returns whether a device may be remodelled, by an entry for its serial or for all serials. */
  allows: async (brandAccountId: string, fromModel: string, serial: string, toModel: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM remodel_allowlist
      WHERE brand_account_id = ${brandAccountId} AND from_model = ${fromModel} AND from_serial IN (${serial}, '')
        AND to_model = ${toModel} LIMIT 1`)),
});

export const remodelAllowlistChanges = (db: Queries) => ({
  ...remodelAllowlist(db),

  /** Adds an entry. Returns false if it exists. */
  claim: async (brandAccountId: string, entry: RemodelEntry) =>
    0 <
    (await db.run(sql`
      INSERT INTO remodel_allowlist (brand_account_id, from_model, from_serial, to_model, description, created_at, created_by)
      VALUES (${brandAccountId}, ${entry.fromModel}, ${entry.fromSerial ?? ''}, ${entry.toModel}, ${entry.description},
        ${entry.createdAt}, ${entry.createdBy})
      ON CONFLICT DO NOTHING`)),

  /** Sets an entry's description. Returns false if there is no such entry. */
  describe: async (
    brandAccountId: string,
    entry: Remodel & { description: string | null; at: string; actor: string },
  ) =>
    0 <
    (await db.run(sql`
      UPDATE remodel_allowlist
      SET description = ${entry.description}, modified_at = ${entry.at}, modified_by = ${entry.actor}
      WHERE brand_account_id = ${brandAccountId} AND from_model = ${entry.fromModel}
        AND from_serial = ${entry.fromSerial ?? ''} AND to_model = ${entry.toModel}`)),

  /** Removes an entry. Returns false if there is no such entry. */
  remove: async (brandAccountId: string, { fromModel, fromSerial, toModel }: Remodel) =>
    0 <
    (await db.run(sql`
      DELETE FROM remodel_allowlist
      WHERE brand_account_id = ${brandAccountId} AND from_model = ${fromModel} AND from_serial = ${fromSerial ?? ''}
        AND to_model = ${toModel}`)),
});
