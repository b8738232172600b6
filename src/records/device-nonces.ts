// Nonces with which devices have proven their serials, each for as long as it would be taken once more. They pass.
import { sql, type Queries } from '#engine/database.ts';

export const deviceNoncePassing = (db: Queries) => ({
  /** Takes note that a nonce is used; false when it was before. */
  use: async (nonce: string, endsAt: string) =>
    0 <
    (await db.run(sql`
      INSERT INTO passing_device_nonces (nonce, ends_at) VALUES (${nonce}, ${endsAt}) ON CONFLICT DO NOTHING`)),

  /** Removes those that have ended; how many. */
  sweep: (now: string) => db.run(sql`DELETE FROM passing_device_nonces WHERE ends_at <= ${now}`),
});
