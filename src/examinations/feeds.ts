// Examines the feeds of advisories: their age, their indexes, and the releases that none of them covers.
import { days, minutes } from '#domain/clock.ts';
import { formatCount } from '#domain/quantities.ts';
import type { StoreHandle } from '#data/store.ts';
import type { Config } from '#configuration/config.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { findingOfFaults, notice, well, type Examination } from './examination.ts';

/** An index of a large feed is made within this time. */
const maxIndexingMs = minutes(30);
const maxNamed = 5;

export const feeds: Examination = {
  subject: 'Feeds',
  async look({ config, store }) {
    const { records, now } = await store();
    const all = await records.vulnerabilityFeeds.list();
    if (all.length === 0) return well('none was imported, so no revision is matched with advisories');
    const faults = await feedFaults({ records, now, config: config() });
    const says = `${formatCount(all.length, 'feed')}, the oldest of ${oldestOf(all.map(({ datedAt }) => datedAt))}`;
    if (faults.length > 0) return findingOfFaults(faults, says);
    const open = (await records.findings.coverage()).filter(({ coverage }) => coverage === 'release-not-covered');
    if (open.length === 0) return well(says);
    const releases = open.slice(0, maxNamed).map(({ release, count }) => `${release ?? '-'} (${String(count)})`);
    return notice(
      `${says}; no feed covers revisions and images of ${releases.join(', ')}${open.length > maxNamed ? ', …' : ''}`,
      "Import a feed for them with 'larder feed import'.",
    );
  },
};

const oldestOf = (dates: readonly string[]): string => [...dates].sort()[0]!.slice(0, 10);

/** The faults of feeds: their age, and an accepted feed that is not in force. */
export async function feedFaults({
  records,
  now,
  config,
}: Pick<StoreHandle, 'records' | 'now'> & { config: Pick<Config, 'vulnerabilities'> }): Promise<Fault[]> {
  const { feed_days: maxDays } = config.vulnerabilities;
  const all = await records.vulnerabilityFeeds.list();
  const isOlder = (at: string, milliseconds: number): boolean => now().getTime() - Date.parse(at) > milliseconds;
  // Statements hold until they are revised.
  const old = all.filter(({ format, datedAt }) => format !== 'openvex' && isOlder(datedAt, days(maxDays)));
  const pending = all.find(({ isInForce, importedAt }) => !isInForce && isOlder(importedAt, maxIndexingMs));
  return [
    ...(old.length === 0
      ? []
      : [
          describeFault('feed-old', {
            names: old.slice(0, maxNamed).map(({ source, datedAt }) => `'${source}' of ${datedAt.slice(0, 10)}`),
            all: old.length,
            days: maxDays,
          }),
        ]),
    ...(pending === undefined ? [] : [describeFault('feed-not-in-force', { source: pending.source })]),
  ];
}
