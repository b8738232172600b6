// Downloads: how often content of a package was handed out, noted in all and for each day (UTC). What is noted is written a
// moment later, and what a crash takes of it is missed by nobody.
import { after, days, timestamp } from '#domain/clock.ts';
import { list, sql, type Queries, type Reading } from '#engine/database.ts';
import type { Notes } from './notes.ts';

/** So many days are told apart, today being one of them. */
export const daysKept = 30;

export interface Downloads {
  inAll: number;
  /** Those of them that were a delta in the place of the whole file. */
  deltas: number;
  /** Of the last thirty days. */
  recent: number;
}

const dayOf = (moment: Date): string => timestamp(moment).slice(0, 10);

/** The first of the days that are told apart. */
export const firstDayKept = (now: Date): string => dayOf(after(now, -days(daysKept - 1)));

/** Notes that content of a package was handed out; costs the caller nothing. */
export function noteDownload({ note }: Pick<Notes, 'note'>, packageId: string, now: Date): void {
  note('download', packageId, timestamp(now));
  note('download-day', `${dayOf(now)} ${packageId}`, timestamp(now));
}

/** Notes that a device fetched what makes a revision of another, or the whole file of one. */
export function noteDelta({ note }: Pick<Notes, 'note'>, packageId: string, what: 'served' | 'whole', now: Date): void {
  note('delta', what, timestamp(now));
  if (what === 'served') note('delta-download', packageId, timestamp(now));
}

/** The keys of the days that are told apart, today first. */
const daysOf = (packageId: string, now: Date): string[] =>
  Array.from({ length: daysKept }, (_, back) => `${dayOf(after(now, -days(back)))} ${packageId}`);

export const downloads = (db: Reading) => ({
  /** The downloads of a package, as far as they are written. */
  async of(packageId: string, now: Date): Promise<Downloads> {
    const keys = daysOf(packageId, now);
    const found = await db.get<Downloads>(sql`
      SELECT coalesce((SELECT count FROM notes WHERE kind = 'download' AND key = ${packageId}), 0) AS "inAll",
        coalesce((SELECT count FROM notes WHERE kind = 'delta-download' AND key = ${packageId}), 0) AS deltas,
        coalesce((SELECT sum(count) FROM notes WHERE kind = 'download-day' AND key IN ${list(keys)}), 0) AS recent`);
    return found!;
  },

  /** Those of the last thirty days, day by day, today last. */
  async byDay(packageId: string, now: Date): Promise<number[]> {
    const keys = daysOf(packageId, now);
    const rows = await db.all<{ key: string; count: number }>(sql`
      SELECT key, count FROM notes WHERE kind = 'download-day' AND key IN ${list(keys)}`);
    const counts = new Map(rows.map(({ key, count }) => [key, count]));
    return keys.map((key) => counts.get(key) ?? 0).reverse();
  },
});

export const downloadPassing = (db: Queries) => ({
  /** Forgets the days that are told apart no longer; how many rows. */
  sweep: (now: Date) => db.run(sql`DELETE FROM notes WHERE kind = 'download-day' AND key < ${firstDayKept(now)}`),
});
