// Versions of nouns: a number for each table that something remembered is made of. Triggers raise it with every row that
// changes, whoever changes it. What was read from tables that did not change is still so, whatever else was committed.
import { then, type Soon } from '#domain/soon.ts';
import { sql, type Database } from '#engine/database.ts';

/** The numbers as they were at one moment; the object is another one whenever one of them may have been raised. */
export interface Snapshot {
  /** Raised when all that is remembered is to be forgotten, whatever the numbers say. */
  readonly generation: number;
  readonly numbers: ReadonlyMap<string, number>;
}

export interface NounVersions {
  /** The numbers, no older than what was committed before the call. Costs a query only after a commit. */
  current(): Soon<Snapshot>;
  /** From here on nothing is what it was. */
  forget(): void;
}

export function nounVersions(db: Pick<Database, 'all' | 'version'>): NounVersions {
  let seen = NaN;
  let generation = 0;
  let snapshot: Soon<Snapshot>;

  async function read(): Promise<Snapshot> {
    const of = generation;
    const rows = await db.all<{ noun: string; version: number }>(sql`SELECT noun, version FROM noun_versions`);
    return { generation: of, numbers: new Map(rows.map(({ noun, version }) => [noun, version])) };
  }

  function as(version: number): Soon<Snapshot> {
    if (version !== seen) {
      seen = version;
      const reading = (snapshot = read());
      reading.then(
        (found) => snapshot === reading && (snapshot = found),
        () => (seen = NaN),
      );
    }
    return snapshot;
  }

  return {
    // Asked before the numbers are read: a commit in between makes them newer than this says, and read once more.
    current: () => then(db.version(), as),
    forget() {
      generation++;
      seen = NaN;
    },
  };
}
