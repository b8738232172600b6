// Presents the daily usage of packages.
import type { DeviceDaysResponse, PackageUsageResponse, UsageQuery } from '#contract/wire.ts';
import { wholeStore } from '#records/packages/package-days.ts';
import type { StoreRecords } from '#records/index.ts';

interface UsageReadInput {
  records: Pick<StoreRecords, 'downloads' | 'packageDays'>;
  /** Whether the store remembers devices. */
  remembered: boolean;
  now: Date;
  /** Number of days. */
  days: number;
}

/** The number of days that the query requests. */
export const parseDays = ({ days = '30' }: UsageQuery): number => Number(days);

export async function readPackageDays(
  packageId: string,
  { records, remembered, now, days }: UsageReadInput,
): Promise<PackageUsageResponse> {
  const { inAll, deltas } = await records.downloads.of(packageId, now);
  return {
    downloads: { total: inAll, 'as-delta': deltas },
    remembered,
    days: await records.packageDays.of(packageId, now, days),
  };
}

export async function deviceDays({ records, remembered, now, days }: UsageReadInput): Promise<DeviceDaysResponse> {
  const rows = await records.packageDays.of(wholeStore, now, days);
  return { remembered, days: rows.map(({ day, devices, refreshes }) => ({ day, devices, refreshes })) };
}
