// Daily use of packages (UTC): downloads, devices that called with them, and completed refreshes. Only counts are stored, written together
// with the counters, and old days are deleted.
import { after, days, timestamp } from '#domain/clock.ts';
import { list, sql, type Queries, type ReadQueries } from '#engine/database.ts';

/** How many days are kept, including today. */
export const daysKept = 90;

export interface PackageUse {
  downloads: number;
  /** Devices that called on the day and had reported, on that day or earlier, that they hold the package. Each is counted once. */
  devices: number;
  /** Refreshes that devices completed: revisions that the store had offered, and that a device reported as installed on this day. */
  refreshes: number;
}

export interface DayOfUse extends PackageUse {
  /** `2026-03-01`. */
  day: string;
}

/** Stands in place of a package id for all devices of the store and their refreshes. */
export const wholeStore = '';

/** Returns the day of a time in RFC 3339, UTC. */
export const dayOf = (moment: string): string => moment.slice(0, 10);

/** Returns the last days, today last. */
const lastDays = (now: Date, count: number): string[] =>
  Array.from({ length: count }, (_, at) => dayOf(timestamp(after(now, -days(count - 1 - at)))));

/** Returns the first day that is kept. */
export const firstDayKept = (now: Date): string => dayOf(timestamp(after(now, -days(daysKept - 1))));

export const packageDays = (db: ReadQueries) => ({
  /** Returns the use of a package, or of the whole store, on each of the last `count` days, today last; at most `daysKept` days. */
  async of(packageId: string, now: Date, count: number): Promise<DayOfUse[]> {
    const requestedDays = lastDays(now, Math.min(count, daysKept));
    const rows = await db.all<DayOfUse>(sql`
      SELECT day, downloads, devices, refreshes FROM package_days
      WHERE day IN ${list(requestedDays)} AND package_id = ${packageId}`);
    const rowsByDay = new Map(rows.map((row) => [row.day, row]));
    return requestedDays.map((day) => rowsByDay.get(day) ?? { day, downloads: 0, devices: 0, refreshes: 0 });
  },
});

export const ephemeralPackageDays = (db: Queries) => ({
  /** Deletes days that are no longer kept. Returns how many rows. */
  sweep: (now: Date) => db.run(sql`DELETE FROM package_days WHERE day < ${firstDayKept(now)}`),
});

/** Adds to the counts of a day within a transaction. */
export const addUse = (
  db: Queries,
  day: string,
  packageId: string,
  { downloads = 0, devices = 0, refreshes = 0 }: Partial<PackageUse>,
) =>
  db.run(sql`
    INSERT INTO package_days (day, package_id, downloads, devices, refreshes)
    VALUES (${day}, ${packageId}, ${downloads}, ${devices}, ${refreshes})
    ON CONFLICT (day, package_id) DO UPDATE SET downloads = package_days.downloads + excluded.downloads,
      devices = package_days.devices + excluded.devices, refreshes = package_days.refreshes + excluded.refreshes`);
