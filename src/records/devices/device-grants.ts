// Grants: the private snaps that the devices of a brand, of one of its models, or a single device may have.
import { columns, sql, type Queries } from '#engine/database.ts';

/** The devices of a grant: all of a brand, all of a model, or one. */
export interface GrantedDevices {
  /** An account id. */
  brandId: string;
  /** Undefined means every model. */
  model: string | undefined;
  /** Undefined means every device. A serial belongs to a model. */
  serial: string | undefined;
}

export interface DeviceGrant extends GrantedDevices {
  packageId: string;
  createdAt: string;
  /** An account id, or `cli:<user>`. */
  createdBy: string;
}

type DeviceGrantRow = Omit<DeviceGrant, 'model' | 'serial'> & { model: string; serial: string };

const asGrant = ({ model, serial, ...row }: DeviceGrantRow): DeviceGrant => ({
  ...row,
  model: model === '' ? undefined : model,
  serial: serial === '' ? undefined : serial,
});

const grantColumns = columns`
  package_id AS "packageId", brand_id AS "brandId", model, serial, created_at AS "createdAt", created_by AS "createdBy"`;

/** Shared, since most devices have no grants. */
const none: ReadonlySet<string> = new Set();

export const deviceGrants = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Returns the ids of the packages granted to a device of a model, `BRAND/MODEL`, by any kind of grant. */
  async heldBy(serial: string, brandAndModel: string): Promise<ReadonlySet<string>> {
    const [brandId = '', model = ''] = brandAndModel.split('/');
    const rows = await db.all<{ id: string }>(sql`
      SELECT package_id AS id FROM device_grants
      WHERE brand_id = ${brandId} AND model IN ('', ${model}) AND serial IN ('', ${serial})`);
    return rows.length === 0 ? none : new Set(rows.map(({ id }) => id));
  },

  /** Lists the grants of a package by brand, model and serial, after the given one. */
  async list(packageId: string, after: readonly string[], limit: number): Promise<DeviceGrant[]> {
    const [brand = '', model = '', serial = ''] = after;
    const rows = await db.all<DeviceGrantRow>(sql`
      SELECT ${grantColumns} FROM device_grants
      WHERE package_id = ${packageId} AND (brand_id, model, serial) > (${brand}, ${model}, ${serial})
      ORDER BY brand_id, model, serial LIMIT ${limit}`);
    return rows.map(asGrant);
  },
});

export const deviceGrantChanges = (db: Queries) => ({
  ...deviceGrants(db),

  /** Grants a package. Returns false if exactly these devices have the grant already. */
  claim: async ({ packageId, brandId, model = '', serial = '', createdAt, createdBy }: DeviceGrant) =>
    0 <
    (await db.run(sql`
      INSERT INTO device_grants (package_id, brand_id, model, serial, created_at, created_by)
      VALUES (${packageId}, ${brandId}, ${model}, ${serial}, ${createdAt}, ${createdBy})
      ON CONFLICT DO NOTHING`)),

  /** Removes a grant. Returns false if there is none for exactly these devices. */
  remove: async (packageId: string, { brandId, model = '', serial = '' }: GrantedDevices) =>
    0 <
    (await db.run(sql`
      DELETE FROM device_grants
      WHERE package_id = ${packageId} AND brand_id = ${brandId} AND model = ${model} AND serial = ${serial}`)),
});
