// Nonces that devices used to prove their serials, stored as long as they could be replayed. Ephemeral.
import { sql, type Queries } from '#engine/database.ts';

export const ephemeralDeviceNonces = (db: Queries) => ({
  /** Records that a device, by its digest, uses a nonce. Returns false if it was used before. */
  use: async (nonce: string, device: string, endsAt: string) =>
    0 <
    (await db.run(sql`
      INSERT INTO passing_device_nonces (nonce, device, ends_at) VALUES (${nonce}, ${device}, ${endsAt})
      ON CONFLICT DO NOTHING`)),

  /** Returns when the device's `nth` newest nonce ends; undefined if the device has used fewer. */
  endOf: async (device: string, now: string, nth: number): Promise<string | undefined> =>
    (
      await db.get<{ endsAt: string }>(sql`
        SELECT ends_at AS "endsAt" FROM passing_device_nonces WHERE device = ${device} AND ends_at > ${now}
        ORDER BY ends_at DESC LIMIT 1 OFFSET ${nth - 1}`)
    )?.endsAt,

  /** Removes the nonces that have ended. Returns how many. */
  sweep: (now: string) => db.run(sql`DELETE FROM passing_device_nonces WHERE ends_at <= ${now}`),
});
