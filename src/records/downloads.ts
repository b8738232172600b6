// Downloads: how often content of a package was handed out, noted in all and for each day. What is noted is written a moment
// later, and what a crash takes of it is missed by nobody.
import { timestamp } from '#domain/clock.ts';
import { sql, type Reading } from '#engine/database.ts';
import type { Notes } from './notes.ts';
import { dayOf, packageDays } from './package-days.ts';

/** What is recent. */
export const recentDays = 30;

export interface Downloads {
  inAll: number;
  /** Those of them that were a delta in the place of the whole file. */
  deltas: number;
  /** Of the last thirty days. */
  recent: number;
}

/** Notes that content of a package was handed out; costs the caller nothing. */
export function noteDownload({ note }: Pick<Notes, 'note'>, packageId: string, now: Date): void {
  const at = timestamp(now);
  note('download', packageId, at);
  note('download-day', `${dayOf(at)} ${packageId}`, at);
}

/** Notes that a device fetched what makes a revision of another, or the whole file of one. */
export function noteDelta({ note }: Pick<Notes, 'note'>, packageId: string, what: 'served' | 'whole', now: Date): void {
  note('delta', what, timestamp(now));
  if (what === 'served') note('delta-download', packageId, timestamp(now));
}

export const downloads = (db: Reading) => ({
  /** The downloads of a package, as far as they are written. */
  async of(packageId: string, now: Date): Promise<Downloads> {
    const found = await db.get<Omit<Downloads, 'recent'>>(sql`
      SELECT coalesce((SELECT count FROM notes WHERE kind = 'download' AND key = ${packageId}), 0) AS "inAll",
        coalesce((SELECT count FROM notes WHERE kind = 'delta-download' AND key = ${packageId}), 0) AS deltas`);
    const recent = await packageDays(db).of(packageId, now, recentDays);
    return { ...found!, recent: recent.reduce((sum, { downloads: count }) => sum + count, 0) };
  },
});
