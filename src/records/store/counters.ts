// Counters: how often something happened, and when last. They are gathered in memory and written at most once per second; a crash loses the
// last second. They are not in the audit log.
import { after, days, timestamp } from '#domain/clock.ts';
import { sql, type Database, type Queries, type ReadQueries } from '#engine/database.ts';
import { addUse } from '../packages/package-days.ts';

/** Kinds of counters. The key names the subject; for a download of a day it is the day and the package. */
export type CounterKind =
  | 'delta'
  | 'delta-download'
  | 'download'
  | 'download-day'
  | 'image-upload'
  | 'login-failed'
  | 'refresh-failed'
  | 'refresh-held'
  | 'refresh-offered'
  | 'refresh-took'
  | 'token';

export interface CounterValue {
  count: number;
  /** The last time, RFC 3339. */
  lastAt: string;
}

export interface CounterStore {
  /** Counts an event at a time (RFC 3339), without I/O. */
  countEvent(kind: CounterKind, key: string, at: string): void;
  /** Returns the last time of an event, including counters that are not written yet; undefined if unknown. */
  lastCounted(kind: CounterKind, key: string): Promise<string | undefined>;
  /** Writes the gathered counters. */
  writeCounters(): Promise<void>;
}

export const counters = (db: ReadQueries) => ({
  /** Returns the written counter of a key; undefined if there is none. */
  find: (kind: CounterKind, key: string) =>
    db.get<CounterValue>(sql`SELECT count, last_at AS "lastAt" FROM notes WHERE kind = ${kind} AND key = ${key}`),
});

export const counterSweeps = (db: Queries) => ({
  /** Deletes the times of image uploads before this time. Returns how many rows. */
  sweep: (before: string) => db.run(sql`DELETE FROM notes WHERE kind = 'image-upload' AND last_at < ${before}`),
});

/** Returns the start of the 30 days for which times of image uploads are stored. */
export const firstCountedMoment = (now: Date): string => timestamp(after(now, -days(30)));

/** Maximum of keys gathered between two writes; further keys are lost. */
const maxKeys = 10_000;

/** Milliseconds between two writes. */
const interval = 1000;

interface PendingCounter extends CounterValue {
  kind: CounterKind;
  key: string;
}

export function gatherCounters(db: Pick<Database, keyof ReadQueries | 'transaction'>): CounterStore {
  const { find } = counters(db);
  let gathered = new Map<string, PendingCounter>();
  let due = gathered;
  let timer: NodeJS.Timeout | undefined;

  async function writeCounters(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const writing = (due = gathered);
    gathered = new Map();
    await db.transaction(async (queries) => {
      for (const { kind, key, ...noted } of writing.values()) {
        await (kind === 'download-day' ? addDownloads(queries, key, noted) : addCounter(queries, kind, key, noted));
      }
    });
  }

  return {
    countEvent(kind, key, at) {
      const name = `${kind} ${key}`;
      const counter = gathered.get(name);
      if (counter !== undefined) {
        counter.count++;
        if (at > counter.lastAt) counter.lastAt = at;
      } else if (gathered.size < maxKeys) {
        gathered.set(name, { kind, key, count: 1, lastAt: at });
      }
      timer ??= setTimeout(() => {
        // Lost, as in a crash. No caller waits for this write; the next write of a caller reports the problem of the disk.
        writeCounters().catch(() => undefined);
      }, interval).unref();
    },
    async lastCounted(kind, key) {
      const name = `${kind} ${key}`;
      const unwritten = gathered.get(name) ?? due.get(name);
      const written = await find(kind, key);
      return [unwritten?.lastAt, written?.lastAt]
        .filter((moment) => moment !== undefined)
        .sort()
        .at(-1);
    },

    writeCounters,
  };
}

function addDownloads(db: Queries, key: string, { count: downloads }: CounterValue): Promise<number> {
  const [day = '', packageId = ''] = key.split(' ');
  return addUse(db, day, packageId, { downloads });
}

/** Adds a counter within a transaction. */
export const addCounter = (db: Queries, kind: CounterKind, key: string, { count, lastAt }: CounterValue) =>
  db.run(sql`
    INSERT INTO notes (kind, key, count, last_at) VALUES (${kind}, ${key}, ${count}, ${lastAt})
    ON CONFLICT (kind, key) DO UPDATE SET count = notes.count + excluded.count,
      last_at = CASE WHEN excluded.last_at > notes.last_at THEN excluded.last_at ELSE notes.last_at END`);
