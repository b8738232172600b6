// Notes: how often something happened, and when last. They are gathered in memory, written at most once a second, and what
// was gathered last is lost in a crash; no audit log tells of them.
import { after, days, timestamp } from '#domain/clock.ts';
import { sql, type Database, type Queries, type Reading } from '#engine/database.ts';
import { addUse } from './package-days.ts';

/** What is noted; a key says of what: that of a download's day is the day and the package. */
export type NoteKind =
  | 'delta'
  | 'delta-download'
  | 'download'
  | 'download-day'
  | 'image-upload'
  | 'refresh-failed'
  | 'refresh-held'
  | 'refresh-offered'
  | 'refresh-took'
  | 'token';

export interface Noted {
  count: number;
  /** When last, RFC 3339. */
  lastAt: string;
}

export interface Notes {
  /** Notes that something happened once more, at a moment in RFC 3339; costs the caller nothing. */
  note(kind: NoteKind, key: string, at: string): void;
  /** When something happened last, also what was noted here just now; nothing when it is not known to have happened. */
  lastNoted(kind: NoteKind, key: string): Promise<string | undefined>;
  /** Writes what was gathered. */
  writeNotes(): Promise<void>;
}

export const notes = (db: Reading) => ({
  /** What was written of a key so far; nothing when nothing was. */
  find: (kind: NoteKind, key: string) =>
    db.get<Noted>(sql`SELECT count, last_at AS "lastAt" FROM notes WHERE kind = ${kind} AND key = ${key}`),
});

export const notePassing = (db: Queries) => ({
  /** Forgets when uploads of images moved that moved last before this moment; how many rows. */
  sweep: (before: string) => db.run(sql`DELETE FROM notes WHERE kind = 'image-upload' AND last_at < ${before}`),
});

/** When an upload of an image moved is of interest for so long. */
export const firstMomentNoted = (now: Date): string => timestamp(after(now, -days(30)));

/** So many keys are gathered between two writes; what is noted of others is lost. */
const most = 10_000;

/** How long they are gathered, in milliseconds. */
const interval = 1000;

interface Gathered extends Noted {
  kind: NoteKind;
  key: string;
}

export function gatherNotes(db: Pick<Database, keyof Reading | 'transaction'>): Notes {
  const { find } = notes(db);
  let gathered = new Map<string, Gathered>();
  let due = gathered;
  let timer: NodeJS.Timeout | undefined;

  async function writeNotes(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const writing = (due = gathered);
    gathered = new Map();
    await db.transaction(async (queries) => {
      for (const { kind, key, ...noted } of writing.values()) {
        await (kind === 'download-day' ? addDownloads(queries, key, noted) : addNote(queries, kind, key, noted));
      }
    });
  }

  return {
    note(kind, key, at) {
      const name = `${kind} ${key}`;
      const known = gathered.get(name);
      if (known !== undefined) {
        known.count++;
        if (at > known.lastAt) known.lastAt = at;
      } else if (gathered.size < most) {
        gathered.set(name, { kind, key, count: 1, lastAt: at });
      }
      timer ??= setTimeout(() => {
        // Lost, as in a crash: nobody waits for them, and who writes next is told what is wrong with the disk.
        writeNotes().catch(() => undefined);
      }, interval).unref();
    },
    async lastNoted(kind, key) {
      const name = `${kind} ${key}`;
      const here = gathered.get(name) ?? due.get(name);
      const written = await find(kind, key);
      return [here?.lastAt, written?.lastAt]
        .filter((moment) => moment !== undefined)
        .sort()
        .at(-1);
    },

    writeNotes,
  };
}

function addDownloads(db: Queries, key: string, { count: downloads }: Noted): Promise<number> {
  const [day = '', packageId = ''] = key.split(' ');
  return addUse(db, day, packageId, { downloads });
}

/** Writes a note with what else changes. */
export const addNote = (db: Queries, kind: NoteKind, key: string, { count, lastAt }: Noted) =>
  db.run(sql`
    INSERT INTO notes (kind, key, count, last_at) VALUES (${kind}, ${key}, ${count}, ${lastAt})
    ON CONFLICT (kind, key) DO UPDATE SET count = notes.count + excluded.count,
      last_at = CASE WHEN excluded.last_at > notes.last_at THEN excluded.last_at ELSE notes.last_at END`);
