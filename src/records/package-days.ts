// How packages are used, day by day (UTC): downloads, devices that called with them, and refreshes that devices took. They are
// counts alone, written with what else is noted; the longest ago of them are forgotten.
import { after, days, timestamp } from '#domain/clock.ts';
import { list, sql, type Queries, type Reading } from '#engine/database.ts';

/** So many days are kept, today being one of them. */
export const daysKept = 90;

export interface Use {
  downloads: number;
  /** Devices that called on the day, and said then or before that they hold it; each of them once. */
  devices: number;
  /** Revisions that devices were offered, and called with on the day. */
  refreshes: number;
}

export interface DayOfUse extends Use {
  /** `2026-03-01`. */
  day: string;
}

/** In place of a package's id: the devices of the whole store, and the refreshes that they took. */
export const wholeStore = '';

/** The day of a moment in RFC 3339, UTC. */
export const dayOf = (moment: string): string => moment.slice(0, 10);

/** The last so many days, today last. */
const lastDays = (now: Date, count: number): string[] =>
  Array.from({ length: count }, (_, at) => dayOf(timestamp(after(now, -days(count - 1 - at)))));

/** The first of the days that are kept. */
export const firstDayKept = (now: Date): string => dayOf(timestamp(after(now, -days(daysKept - 1))));

export const packageDays = (db: Reading) => ({
  /** How a package, or the whole store, was used on each of the last days, at most as many as are kept; today last. */
  async of(packageId: string, now: Date, count: number): Promise<DayOfUse[]> {
    const asked = lastDays(now, Math.min(count, daysKept));
    const rows = await db.all<DayOfUse>(sql`
      SELECT day, downloads, devices, refreshes FROM package_days
      WHERE day IN ${list(asked)} AND package_id = ${packageId}`);
    const found = new Map(rows.map((row) => [row.day, row]));
    return asked.map((day) => found.get(day) ?? { day, downloads: 0, devices: 0, refreshes: 0 });
  },
});

export const packageDayPassing = (db: Queries) => ({
  /** Forgets the days that are kept no longer; how many rows. */
  sweep: (now: Date) => db.run(sql`DELETE FROM package_days WHERE day < ${firstDayKept(now)}`),
});

/** Counts what more happened on a day, with what else changes. */
export const addUse = (
  db: Queries,
  day: string,
  packageId: string,
  { downloads = 0, devices = 0, refreshes = 0 }: Partial<Use>,
) =>
  db.run(sql`
    INSERT INTO package_days (day, package_id, downloads, devices, refreshes)
    VALUES (${day}, ${packageId}, ${downloads}, ${devices}, ${refreshes})
    ON CONFLICT (day, package_id) DO UPDATE SET downloads = package_days.downloads + excluded.downloads,
      devices = package_days.devices + excluded.devices, refreshes = package_days.refreshes + excluded.refreshes`);
