// Nonces with which devices have proven their serials, each for as long as it would be taken once more. They pass.
import { sql, type Queries } from '#engine/database.ts';

export const deviceNoncePassing = (db: Queries) => ({
  /** Takes note that a device, by its digest, uses a nonce; false when it was used before. */
  use: async (nonce: string, device: string, endsAt: string) =>
    0 <
    (await db.run(sql`
      INSERT INTO passing_device_nonces (nonce, device, ends_at) VALUES (${nonce}, ${device}, ${endsAt})
      ON CONFLICT DO NOTHING`)),

  /** When the last but so many of those that a device has used will be forgotten; nothing where it has used fewer. */
  endOf: async (device: string, now: string, most: number): Promise<string | undefined> =>
    (
      await db.get<{ endsAt: string }>(sql`
        SELECT ends_at AS "endsAt" FROM passing_device_nonces WHERE device = ${device} AND ends_at > ${now}
        ORDER BY ends_at DESC LIMIT 1 OFFSET ${most - 1}`)
    )?.endsAt,

  /** Removes those that have ended; how many. */
  sweep: (now: string) => db.run(sql`DELETE FROM passing_device_nonces WHERE ends_at <= ${now}`),
});
