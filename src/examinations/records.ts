// Examines the records: their integrity, the clock, blobs, tokens, backups, and pending work.
import { wordsOfAct } from '#acts/audit-words.ts';
import { failBackup, failDrill, makeBackup, recordDrill } from '#acts/store/appliance.ts';
import { days } from '#domain/clock.ts';
import { damagedFacts } from '#integrity/blob-reports.ts';
import { contentAndPusher } from '#integrity/content-name.ts';
import { doubtOf } from '#jobs/store/remember-time.ts';
import { tokensEnding } from '#macaroons/token-uses.ts';
import { mendOfRecords, recordsPlace } from '#data/records-place.ts';
import type { StoreHandle } from '#data/store.ts';
import { describeFault, type Fault } from '#platform/faults.ts';
import { pendingWork, type PendingKind } from '#transfers/pending.ts';
import { ExaminationUnavailableError, findingOfFaults, notice, well, wrong, type Examination } from './examination.ts';

export const records: Examination = {
  subject: 'Records',
  onHostAlone: true,
  async look({ data, credentials, config, store, damage }) {
    // Checks the database file first: the corruption may be the reason why the store cannot be opened.
    const problems = await damage();
    if (problems.length > 0) {
      const mend = mendOfRecords(recordsPlace(data, config(), credentials), data);
      return wrong(`the database is damaged: ${problems[0]!}`, `'larder verify' lists everything. ${mend}`);
    }
    const { sealing } = await store().catch((error: unknown) => {
      throw error instanceof ExaminationUnavailableError ? (error.cause as Error) : error;
    });
    const because = sealing.problem();
    if (because !== undefined) return findingOfFaults([describeFault('audit-log', { because })], '');
    return well(
      config().records.postgres === undefined
        ? 'the database is intact, every row as it was written'
        : 'every row of the database can be read, and its references are valid',
    );
  },
};

export const clock: Examination = {
  subject: 'Clock',
  async look({ store }) {
    const { records: storeRecords, now } = await store();
    const latestTime = await storeRecords.appliance.find('latest-time');
    const doubt = latestTime === undefined ? undefined : doubtOf(now(), latestTime);
    return findingOfFaults(
      doubt === undefined ? [] : [describeFault('clock', doubt)],
      `the clock says ${now().toISOString()}`,
    );
  },
};

export const blobs: Examination = {
  subject: 'Blobs',
  async look({ store }) {
    const { records: storeRecords } = await store();
    const facts = await damagedFacts(storeRecords);
    if (facts === undefined) return well('no blob is known to be corrupt');
    const finding = findingOfFaults([describeFault('damaged-blobs', facts)], '');
    const damaged = await storeRecords.damagedBlobs.list(10);
    const names = await Promise.all(damaged.map(({ sha3_384 }) => contentAndPusher(storeRecords, sha3_384)));
    return { ...finding, says: `${finding.says}; in detail: ${names.join('; ')}` };
  },
};

export const registry: Examination = {
  subject: 'Registry',
  async look({ config, store }) {
    const { external, notifications } = config().registry;
    if (external === undefined) return well('the store keeps images itself');
    if (!notifications) return well(`${external} keeps the images, and tells nothing of them`);
    return (await (await store()).records.externalImages.hasAnyOf(external))
      ? well(`${external} keeps the images, and tells this store of them`)
      : notice(
          `${external} keeps the images, and has told of none yet`,
          "What its configuration needs for that, 'larder registry settings' prints.",
        );
  },
};

export const tokens: Examination = {
  subject: 'Tokens',
  async look({ store }) {
    return findingOfFaults(await tokenFaults(await store()), 'none in use for two weeks ends within the next two');
  },
};

export async function tokenFaults({
  records: storeRecords,
  latestTime,
}: Pick<StoreHandle, 'records' | 'latestTime'>): Promise<Fault[]> {
  const ending = await tokensEnding(storeRecords, latestTime);
  return ending === 0 ? [] : [describeFault('tokens-ending', { tokens: ending })];
}

/** How long a store may be without a backup, or with an old one, in milliseconds. */
export const maxBackupAgeMs = days(7);

export const backups: Examination = {
  subject: 'Backups',
  async look({ store }) {
    const { records: storeRecords, now, config } = await store();
    const { last, drill } = await lastBackups(storeRecords);
    return findingOfFaults(
      await backupFaults({ records: storeRecords, now, config }),
      `the last backup was made at ${last?.at ?? 'no time'}, ` +
        (drill === undefined ? 'and none was restored in a drill' : `and the last drill was at ${drill.at}`),
    );
  },
};

interface LastBackups {
  last: { at: string } | undefined;
  /** The last failed backup, if none was made since. */
  failed: { at: string; details: string } | undefined;
  /** The last drill that succeeded, and the last failed one, if none succeeded since. */
  drill: { at: string; details: string } | undefined;
  failedDrill: { at: string; details: string } | undefined;
}

/** Cache of the audit log per store: it has many rows, so each row is read once. */
const histories = new WeakMap<object, LastBackups & { upTo: number }>();

/** The last backup and drill, and the last failed ones. */
export async function lastBackups(storeRecords: Pick<StoreHandle['records'], 'audit'>): Promise<LastBackups> {
  const head = (await storeRecords.audit.head())?.seq ?? 0;
  let history = histories.get(storeRecords);
  if (history === undefined || history.upTo > head)
    history = { last: undefined, failed: undefined, drill: undefined, failedDrill: undefined, upTo: 0 };
  if (history.upTo < head) {
    let { last, failed, drill, failedDrill } = history;
    const [made, notMade] = [wordsOfAct(makeBackup.name), wordsOfAct(failBackup.name)];
    const words = [...made, ...notMade, recordDrill.name, failDrill.name];
    for (const row of await storeRecords.audit.withWords(words, history.upTo)) {
      if (made.includes(row.action)) [last, failed] = [row, undefined];
      else if (notMade.includes(row.action)) failed = row;
      else if (row.action === recordDrill.name) [drill, failedDrill] = [row, undefined];
      else failedDrill = row;
    }
    history = { last, failed, drill, failedDrill, upTo: head };
  }
  histories.set(storeRecords, history);
  return history;
}

/** The fault if the last backup failed or is too old; a new store may have none for some time. */
export async function backupFaults({
  records: storeRecords,
  now,
  config,
}: Pick<StoreHandle, 'records' | 'now' | 'config'>): Promise<Fault[]> {
  const { last, failed, ...drills } = await lastBackups(storeRecords);
  const faults = drillFaults(drills, now(), config.backup.drill_days);
  if (failed !== undefined) {
    const { because } = JSON.parse(failed.details) as { because?: string };
    faults.push(describeFault('backup-failed', { at: failed.at, because: because ?? 'its log says why' }));
  }
  const isOld = (at: string): boolean => now().getTime() - Date.parse(at) > maxBackupAgeMs;
  if (last !== undefined)
    return isOld(last.at) ? [...faults, describeFault('backup-overdue', { last: last.at })] : faults;
  const [first] = await storeRecords.audit.list(0, 1);
  const isNew = first !== undefined && !isOld(first.at);
  return [...faults, isNew ? describeFault('backup-missing', {}) : describeFault('backup-overdue', {})];
}

/** The fault if the last drill failed, or is more days ago than `expected`. */
function drillFaults(
  { drill, failedDrill }: Pick<LastBackups, 'drill' | 'failedDrill'>,
  now: Date,
  expected: number | undefined,
): Fault[] {
  if (failedDrill !== undefined) {
    const { because = 'its log says why' } = JSON.parse(failedDrill.details) as { because?: string };
    return [describeFault('drill-failed', { at: failedDrill.at, because })];
  }
  const last = drill?.at;
  if (expected === undefined || (last !== undefined && now.getTime() - Date.parse(last) <= days(expected))) return [];
  return [describeFault('drill-overdue', { last, expected })];
}

export const pending: Examination = {
  subject: 'Pending',
  async look({ store }) {
    const { records: storeRecords, now } = await store();
    return findingOfFaults(pendingFaults(await pendingWork(storeRecords, now())), 'nothing waits for people');
  },
};

/** The work that waits for people, per kind; kinds without any are left out. */
export const pendingFaults = (work: readonly PendingKind[]): Fault[] => {
  const kinds = work.filter(({ count }) => count > 0);
  return kinds.length === 0 ? [] : [describeFault('pending', { kinds })];
};
