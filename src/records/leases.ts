// Leases: what one process does at a time. They pass: whose holder has died ends by itself.
import { sql, type Queries, type Reading } from '#engine/database.ts';

export const leases = (db: Reading) => ({
  /** Who holds one, and until when. */
  find: (name: string) =>
    db.get<{ holder: string; endsAt: string }>(sql`
      SELECT holder, ends_at AS "endsAt" FROM passing_leases WHERE name = ${name}`),

  any: async (): Promise<boolean> => (await db.get(sql`SELECT 1 FROM passing_leases LIMIT 1`)) !== undefined,
});

export const leasePassing = (db: Queries) => ({
  ...leases(db),

  /**
   * Takes one that nobody holds, or holds one's own for longer; false when somebody else does. One that would end later
   * than `nobodys` was taken before the clock was set back, and counts as ended.
   */
  take: async (
    name: string,
    holder: string,
    { now, endsAt, nobodys }: { now: string; endsAt: string; nobodys: string },
  ) =>
    0 <
    (await db.run(sql`
      INSERT INTO passing_leases (name, holder, ends_at) VALUES (${name}, ${holder}, ${endsAt})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
      WHERE passing_leases.holder = excluded.holder OR passing_leases.ends_at <= ${now} OR passing_leases.ends_at > ${nobodys}`)),

  /** Gives one's own back. */
  release: (name: string, holder: string) =>
    db.run(sql`DELETE FROM passing_leases WHERE name = ${name} AND holder = ${holder}`),

  /** Ends them all, whoever held them; how many. */
  endAll: () => db.run(sql`DELETE FROM passing_leases`),

  sweep: (now: string) => db.run(sql`DELETE FROM passing_leases WHERE ends_at <= ${now}`),
});
