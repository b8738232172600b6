// Revoked serials, which the store no longer accepts.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface RevokedSerial {
  /** An account id. */
  brandId: string;
  model: string;
  serial: string;
  because: string;
  revokedAt: string;
  /** An account id, or `cli:<user>`. */
  revokedBy: string;
}

const revokedColumns = columns`
  brand_id AS "brandId", model, serial, because, revoked_at AS "revokedAt", revoked_by AS "revokedBy"`;

export const revokedSerials = (db: Pick<Queries, 'get'>) => ({
  /** Finds the revocation of a serial of a model, `BRAND/MODEL`; null if it is not revoked. */
  async find(serial: string, brandAndModel: string): Promise<RevokedSerial | null> {
    const [brandId = '', model = ''] = brandAndModel.split('/');
    const row = await db.get<RevokedSerial>(sql`
      SELECT ${revokedColumns} FROM revoked_serials
      WHERE brand_id = ${brandId} AND model = ${model} AND serial = ${serial}`);
    return row ?? null;
  },
});

export const revokedSerialChanges = (db: Queries) => ({
  ...revokedSerials(db),

  /** Revokes a serial. Returns false if it is revoked already. */
  claim: async ({ brandId, model, serial, because, revokedAt, revokedBy }: RevokedSerial) =>
    0 <
    (await db.run(sql`
      INSERT INTO revoked_serials (brand_id, model, serial, because, revoked_at, revoked_by)
      VALUES (${brandId}, ${model}, ${serial}, ${because}, ${revokedAt}, ${revokedBy})
      ON CONFLICT DO NOTHING`)),
});
