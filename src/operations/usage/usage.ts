// Presents the daily usage of packages.
import type { DeviceDaysResponse, PackageUsageResponse, UsageQuery } from '#api/wire.ts';
import { wholeStore } from '#records/package-days.ts';
import type { Records } from '#records/index.ts';

interface Asked {
  records: Pick<Records, 'downloads' | 'packageDays'>;
  /** Whether the store remembers devices. */
  remembered: boolean;
  now: Date;
  /** Number of days. */
  days: number;
}

/** The number of days that the query requests. */
export const daysIn = ({ days = '30' }: UsageQuery): number => Number(days);

export async function packageUsage(
  packageId: string,
  { records, remembered, now, days }: Asked,
): Promise<PackageUsageResponse> {
  const { inAll, deltas } = await records.downloads.of(packageId, now);
  return {
    downloads: { total: inAll, 'as-delta': deltas },
    remembered,
    days: await records.packageDays.of(packageId, now, days),
  };
}

export async function deviceDays({ records, remembered, now, days }: Asked): Promise<DeviceDaysResponse> {
  const found = await records.packageDays.of(wholeStore, now, days);
  return { remembered, days: found.map(({ day, devices, refreshes }) => ({ day, devices, refreshes })) };
}
