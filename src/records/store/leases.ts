// Leases: rows with an end that let one process at a time do something. If its holder dies, a lease ends by itself.
import { list, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export const leases = (db: ReadQueries) => ({
  /** Returns the holder and the end of a lease. */
  find: (name: string) =>
    db.get<{ holder: string; endsAt: string }>(sql`
      SELECT holder, ends_at AS "endsAt" FROM passing_leases WHERE name = ${name}`),

  /** Lists the processes with a current heartbeat; see shared/processes.ts. */
  processes: async (now: string): Promise<string[]> =>
    (
      await db.all<{ holder: string }>(sql`
        SELECT holder FROM passing_leases WHERE name >= 'process ' AND name < 'process!' AND ends_at > ${now}`)
    ).map(({ holder }) => holder),

  /** Lists the holders of all leases. */
  holders: async (): Promise<string[]> =>
    (await db.all<{ holder: string }>(sql`SELECT DISTINCT holder FROM passing_leases`)).map(({ holder }) => holder),
});

/** How many leases one statement takes; unused places have an empty name. */
const leasesPerStatement = 8;
const unusedPlace = { name: '', holder: '' };

export const ephemeralLeases = (db: Queries) => ({
  ...leases(db),

  /**
   * Takes a free lease, or extends one's own. Returns false if another holder has it. A lease that ends later than `tooLate` was taken
   * before the clock was set back, and counts as ended.
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

  /** Takes or extends several leases with few statements. Returns the holders that have their lease. */
  takeEach: async (
    requests: readonly { name: string; holder: string }[],
    { now, endsAt, tooLate }: { now: string; endsAt: string; tooLate: string },
  ): Promise<string[]> => {
    for (let at = 0; at < requests.length; at += leasesPerStatement) {
      const [a, b, c, d, e, f, g, h] = Array.from(
        { length: leasesPerStatement },
        (_, more) => requests[at + more] ?? unusedPlace,
      );
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
    const holders = requests.map(({ holder }) => holder);
    const held = await db.all<{ holder: string }>(sql`
      SELECT holder FROM passing_leases WHERE holder IN ${list(holders)} AND ends_at = ${endsAt}`);
    return held.map(({ holder }) => holder);
  },

  /** Releases all leases of several holders. */
  releaseEach: (holders: readonly string[]) => db.run(sql`DELETE FROM passing_leases WHERE holder IN ${list(holders)}`),

  /** Releases a lease of this holder. */
  release: (name: string, holder: string) =>
    db.run(sql`DELETE FROM passing_leases WHERE name = ${name} AND holder = ${holder}`),

  /** Releases all leases of a holder, such as a process that has ended. */
  releaseAll: (holder: string) => db.run(sql`DELETE FROM passing_leases WHERE holder = ${holder}`),

  sweep: (now: string) => db.run(sql`DELETE FROM passing_leases WHERE ends_at <= ${now}`),
});
