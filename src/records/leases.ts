// Leases: what one process does at a time. They pass: whose holder has died ends by itself.
import { sql, type Queries, type Reading } from '#engine/database.ts';

export const leases = (db: Reading) => ({
  /** Who holds one, and until when. */
  find: (name: string) =>
    db.get<{ holder: string; endsAt: string }>(sql`
      SELECT holder, ends_at AS "endsAt" FROM passing_leases WHERE name = ${name}`),

  /** The processes that have said of late that they go on; see shared/processes.ts. */
  processes: async (now: string): Promise<string[]> =>
    (
      await db.all<{ holder: string }>(sql`
        SELECT holder FROM passing_leases WHERE name >= 'process ' AND name < 'process!' AND ends_at > ${now}`)
    ).map(({ holder }) => holder),

  /** Everybody who holds one. */
  holders: async (): Promise<string[]> =>
    (await db.all<{ holder: string }>(sql`SELECT DISTINCT holder FROM passing_leases`)).map(({ holder }) => holder),
});

export const leasePassing = (db: Queries) => ({
  ...leases(db),

  /**
   * Takes one that nobody holds, or holds one's own for longer; false when somebody else does. One that would end later
   * than `tooLate` was taken before the clock was set back, and counts as ended.
   */
  take: async (
    name: string,
    holder: string,
    { now, endsAt, tooLate }: { now: string; endsAt: string; tooLate: string },
  ) =>
    0 <
    (await db.run(sql`
      INSERT INTO passing_leases (name, holder, ends_at) VALUES (${name}, ${holder}, ${endsAt})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
      WHERE passing_leases.holder = excluded.holder OR passing_leases.ends_at <= ${now} OR passing_leases.ends_at > ${tooLate}`)),

  /** Gives one's own back. */
  release: (name: string, holder: string) =>
    db.run(sql`DELETE FROM passing_leases WHERE name = ${name} AND holder = ${holder}`),

  /** Gives back all that a process held which is no more. */
  releaseAll: (holder: string) => db.run(sql`DELETE FROM passing_leases WHERE holder = ${holder}`),

  sweep: (now: string) => db.run(sql`DELETE FROM passing_leases WHERE ends_at <= ${now}`),
});
