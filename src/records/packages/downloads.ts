// Downloads of packages, counted in total and per day. Counts are written a moment later; a crash loses the last of them.
import { timestamp } from '#domain/clock.ts';
import { sql, type ReadQueries } from '#engine/database.ts';
import type { CounterStore } from '../store/counters.ts';
import { dayOf, packageDays } from './package-days.ts';

/** How many days count as recent. */
export const recentDays = 30;

export interface DownloadCounts {
  inAll: number;
  /** How many of them were a delta instead of the whole file. */
  deltas: number;
  /** Downloads of the last thirty days. */
  recent: number;
}

/** Counts a download of a package, without I/O. */
export function countDownload({ countEvent }: Pick<CounterStore, 'countEvent'>, packageId: string, now: Date): void {
  const at = timestamp(now);
  countEvent('download', packageId, at);
  countEvent('download-day', `${dayOf(at)} ${packageId}`, at);
}

/** Counts that a device fetched a delta, or the whole file of a revision. */
export function countDelta(
  { countEvent }: Pick<CounterStore, 'countEvent'>,
  packageId: string,
  kind: 'served' | 'whole',
  now: Date,
): void {
  countEvent('delta', kind, timestamp(now));
  if (kind === 'served') countEvent('delta-download', packageId, timestamp(now));
}

export const downloads = (db: ReadQueries) => ({
  /** Returns the downloads of a package that have been written. */
  async of(packageId: string, now: Date): Promise<DownloadCounts> {
    const totals = await db.get<Omit<DownloadCounts, 'recent'>>(sql`
      SELECT coalesce((SELECT count FROM notes WHERE kind = 'download' AND key = ${packageId}), 0) AS "inAll",
        coalesce((SELECT count FROM notes WHERE kind = 'delta-download' AND key = ${packageId}), 0) AS deltas`);
    const recent = await packageDays(db).of(packageId, now, recentDays);
    return { ...totals!, recent: recent.reduce((sum, { downloads: count }) => sum + count, 0) };
  },
});
