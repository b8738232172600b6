// Job that records the vulnerabilities of packages, so that new ones have a date and an entry in the change feed.
import { setImmediate } from 'node:timers/promises';

import { itself, type Acts } from '#acts/act.ts';
import type { FindingSubject } from '#acts/vulnerabilities/effective-findings.ts';
import { createBillMatcher } from '#acts/vulnerabilities/match-bill.ts';
import { isRecorded, recordFindings } from '#acts/vulnerabilities/record-findings.ts';
import { listRevisionFindings, type FindingListContext } from '#acts/vulnerabilities/revision-findings.ts';
import { hours, minutes, timestamp, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

type RecordedPackage = FindingSubject['package'];

interface FindingRecorderOptions {
  records: StoreRecords;
  acts: Acts;
  now: Now;
  /** Whether the store remembers devices. */
  remember: () => boolean;
}

const pageSize = 50;
/** The revisions on devices change without a change of feeds and releases. */
const everythingAfterMs = hours(1);

/** The state that the findings of packages were last recorded for. */
interface RecordedState {
  /** When all packages were recorded, in milliseconds since 1970. */
  at: number;
  /** The end of the audit log. */
  end: number;
  /** Whether all released revisions are compared with these feeds: nothing changes then without an entry in the audit log. */
  isSettled: boolean;
  /** Whether only packages with other releases have to be recorded. */
  isPartial: boolean;
  /** The indexes of feeds in force. */
  feeds: string;
  /** The released revisions of each package, and the feeds that they were compared with. */
  packages: ReadonlyMap<string, string>;
}

export function recordFindingsOfPackages(options: FindingRecorderOptions): BackgroundJob {
  let last: RecordedState | undefined;
  return {
    name: 'record-findings',
    inDoubt: 'runs',
    every: minutes(1),

    async run() {
      const present = await readState(options, last);
      if (present === last) return {};
      let recorded = 0;
      for await (const packages of changedPackages(options.records, present, last))
        recorded += await recordPage(packages, options);
      last = present;
      return recorded === 0 ? {} : { recorded };
    },
  };
}

/** The present state, or the last one if nothing has changed since. */
async function readState(
  { records, now }: FindingRecorderOptions,
  last: RecordedState | undefined,
): Promise<RecordedState> {
  const moment = now();
  const end = (await records.audit.head())?.seq ?? 0;
  const feeds = (await records.feedIndexes.inForce()).map(({ id }) => id).join(' ');
  const isPartial = last?.feeds === feeds && moment.getTime() - last.at < everythingAfterMs;
  if (isPartial && last.isSettled && last.end === end) return last;
  const compared = await records.packageFindings.comparedReleases(timestamp(moment));
  const packages = Map.groupBy(compared, ({ packageId }) => packageId);
  const { indexes } = await createBillMatcher(records.feedIndexes);
  return {
    at: isPartial ? last.at : moment.getTime(),
    end,
    isSettled: compared.every((release) => release.indexes === indexes),
    isPartial,
    feeds,
    packages: new Map([...packages].map(([id, releases]) => [id, JSON.stringify(releases)])),
  };
}

/** The packages to record, page by page: those with other releases, or all after a change of feeds and each hour. */
async function* changedPackages(
  records: StoreRecords,
  present: RecordedState,
  last: RecordedState | undefined,
): AsyncGenerator<RecordedPackage[]> {
  if (present.isPartial) {
    const before = last?.packages ?? new Map<string, string>();
    const ids = [...new Set([...present.packages.keys(), ...before.keys()])];
    const changed = ids.filter((id) => present.packages.get(id) !== before.get(id));
    for (let from = 0; from < changed.length; from += pageSize) {
      const names = await records.inventory.names(changed.slice(from, from + pageSize));
      yield [...names].map(([id, fullName]) => ({ id, ...fullName }));
    }
    return;
  }
  for (let after = { namespace: '', name: '' }; ;) {
    const packages = await records.packages.after(after.namespace, after.name, pageSize);
    yield packages;
    if (packages.length < pageSize) return;
    after = packages.at(-1)!;
  }
}

/** Records the findings of some packages. Returns the number of packages with a change. */
async function recordPage(
  packages: readonly RecordedPackage[],
  { records, acts, now, remember }: FindingRecorderOptions,
): Promise<number> {
  const context: FindingListContext = { records, at: timestamp(now()), remember: remember() };
  const revisions = await listRevisionFindings(context, packages, { all: true });
  const byPackage = Map.groupBy(revisions, (listed) => listed.package.id);
  let recorded = 0;
  for (const subject of packages) {
    const listed = byPackage.get(subject.id) ?? [];
    const present = {
      findings: listed.flatMap(({ findings }) => findings),
      isComplete: listed.every(({ coverage }) => coverage !== undefined),
    };
    if (isRecorded(await records.packageFindings.ofPackage(subject.id), present)) continue;
    await acts.do(recordFindings, itself, { package: subject, ...present });
    recorded++;
  }
  // Requests come first.
  await setImmediate();
  return recorded;
}
