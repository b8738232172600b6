// Versions of nouns: a number for each table with cached results. Triggers raise it with every changed row, for every writer. Results from
// tables that did not change stay valid, even if other tables were written.
import { whenReady, type MaybePromise } from '#domain/maybe-promise.ts';
import { sql, type Database } from '#engine/database.ts';

/** The numbers at one moment. The object changes whenever one of them may have been raised. */
export interface Snapshot {
  /** Raised to drop all caches, even if the numbers are the same. */
  readonly generation: number;
  readonly numbers: ReadonlyMap<string, number>;
}

export interface NounVersions {
  /** Returns the numbers, no older than the commits before the call. It costs a query only after a commit. */
  current(): MaybePromise<Snapshot>;
  /** Invalidates all cached results. */
  forget(): void;
}

export function nounVersions(db: Pick<Database, 'all' | 'version'>): NounVersions {
  let seen = NaN;
  let generation = 0;
  let snapshot: MaybePromise<Snapshot>;

  async function read(): Promise<Snapshot> {
    const of = generation;
    const rows = await db.all<{ noun: string; version: number }>(sql`SELECT noun, version FROM noun_versions`);
    return { generation: of, numbers: new Map(rows.map(({ noun, version }) => [noun, version])) };
  }

  function as(version: number): MaybePromise<Snapshot> {
    if (version !== seen) {
      seen = version;
      const reading = (snapshot = read());
      reading.then(
        (result) => snapshot === reading && (snapshot = result),
        () => (seen = NaN),
      );
    }
    return snapshot;
  }

  return {
    // Read before the numbers: if a commit comes in between, the numbers are newer than this version, and are read again.
    current: () => whenReady(db.version(), as),
    forget() {
      generation++;
      seen = NaN;
    },
  };
}
