// Leases: what one process does at a time. They pass: whose holder has died ends by itself.
import { list, sql, type Queries, type Reading } from '#engine/database.ts';

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

/** So many are taken with one statement; where fewer are wanted, the rest of its places are nobody's. */
const atOnce = 8;
const nobodys = { name: '', holder: '' };

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

  /** Takes several as one does one, with few statements; the holders whose lease it is. */
  takeEach: async (
    wanted: readonly { name: string; holder: string }[],
    { now, endsAt, tooLate }: { now: string; endsAt: string; tooLate: string },
  ): Promise<string[]> => {
    for (let at = 0; at < wanted.length; at += atOnce) {
      const [a, b, c, d, e, f, g, h] = Array.from({ length: atOnce }, (_, more) => wanted[at + more] ?? nobodys);
      await db.run(sql`
        INSERT INTO passing_leases (name, holder, ends_at)
        SELECT wanted.name, wanted.holder, ${endsAt} FROM (
          SELECT ${a!.name} AS name, ${a!.holder} AS holder
          UNION ALL SELECT ${b!.name}, ${b!.holder}
          UNION ALL SELECT ${c!.name}, ${c!.holder}
          UNION ALL SELECT ${d!.name}, ${d!.holder}
          UNION ALL SELECT ${e!.name}, ${e!.holder}
          UNION ALL SELECT ${f!.name}, ${f!.holder}
          UNION ALL SELECT ${g!.name}, ${g!.holder}
          UNION ALL SELECT ${h!.name}, ${h!.holder}
        ) AS wanted WHERE wanted.name <> ''
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
        WHERE passing_leases.holder = excluded.holder OR passing_leases.ends_at <= ${now} OR passing_leases.ends_at > ${tooLate}`);
    }
    const holders = wanted.map(({ holder }) => holder);
    const held = await db.all<{ holder: string }>(sql`
      SELECT holder FROM passing_leases WHERE holder IN ${list(holders)} AND ends_at = ${endsAt}`);
    return held.map(({ holder }) => holder);
  },

  /** Gives back what several holders have, each all of it. */
  releaseEach: (holders: readonly string[]) => db.run(sql`DELETE FROM passing_leases WHERE holder IN ${list(holders)}`),

  /** Gives one's own back. */
  release: (name: string, holder: string) =>
    db.run(sql`DELETE FROM passing_leases WHERE name = ${name} AND holder = ${holder}`),

  /** Gives back all that a process held which is no more. */
  releaseAll: (holder: string) => db.run(sql`DELETE FROM passing_leases WHERE holder = ${holder}`),

  sweep: (now: string) => db.run(sql`DELETE FROM passing_leases WHERE ends_at <= ${now}`),
});
