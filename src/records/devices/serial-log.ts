// The serial log: each serial that was signed, with its device, model and signing key.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface SerialLogEntry {
  seq: number;
  brandAccountId: string;
  modelName: string;
  serial: string;
  deviceKeySha3384: string;
  signingKeySha3384: string;
  serialAssertion: string;
  /** The request of the device. */
  serialRequest: string;
  createdAt: string;
}

const serialColumns = columns`
  seq, brand_account_id AS "brandAccountId", model_name AS "modelName", serial,
  device_key_sha3_384 AS "deviceKeySha3384", signing_key_sha3_384 AS "signingKeySha3384",
  serial_assertion AS "serialAssertion", serial_request AS "serialRequest", created_at AS "createdAt"`;

export const serialLog = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists a model's entries within a time span and before a number, newest first. */
  list: (
    brandAccountId: string,
    modelName: string,
    before: number,
    { start, end }: { start: string; end: string },
    limit: number,
  ) =>
    db.all<SerialLogEntry>(sql`
      SELECT ${serialColumns}
      FROM serial_log
      WHERE brand_account_id = ${brandAccountId} AND model_name = ${modelName} AND seq < ${before}
        AND created_at >= ${start} AND created_at <= ${end}
      ORDER BY seq DESC LIMIT ${limit}`),

  find: (brandAccountId: string, modelName: string, serial: string) =>
    db.get<SerialLogEntry>(sql`
      SELECT ${serialColumns}
      FROM serial_log
      WHERE brand_account_id = ${brandAccountId} AND model_name = ${modelName} AND serial = ${serial}`),

  /** Lists the serials of a device from a brand, newest first. */
  ofDevice: (brandAccountId: string, deviceKeySha3384: string) =>
    db.all<SerialLogEntry>(sql`
      SELECT ${serialColumns}
      FROM serial_log
      WHERE brand_account_id = ${brandAccountId} AND device_key_sha3_384 = ${deviceKeySha3384} ORDER BY seq DESC`),
});

export const serialLogChanges = (db: Queries) => ({
  ...serialLog(db),

  /** Adds an entry. Returns false if another device has the serial, or the device has a serial of the model already. */
  claim: async (e: Omit<SerialLogEntry, 'seq'>) =>
    0 <
    (await db.run(sql`
      INSERT INTO serial_log (brand_account_id, model_name, serial, device_key_sha3_384, signing_key_sha3_384,
        serial_assertion, serial_request, created_at)
      VALUES (${e.brandAccountId}, ${e.modelName}, ${e.serial}, ${e.deviceKeySha3384}, ${e.signingKeySha3384},
        ${e.serialAssertion}, ${e.serialRequest}, ${e.createdAt})
      ON CONFLICT DO NOTHING`)),
});
