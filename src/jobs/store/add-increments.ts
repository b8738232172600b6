// Job that adds an increment to the folder or bucket of [backup] when the store has changed. Only one process of the store does it.
import { makeBackup } from '#acts/store/appliance.ts';
import { hasOnlyBackupEntries } from '#acts/store/backup-entries.ts';
import { wordsOfAct } from '#acts/audit-words.ts';
import { hours, minutes, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import type { BackgroundJob } from '../runner.ts';

interface IncrementJobOptions {
  records: Pick<StoreRecords, 'audit'>;
  /** The folder, or the address of the bucket; and the interval. */
  settings: () => { place: string | undefined; every: string };
  /** Digest of the configuration file, which a backup contains. */
  configuration: () => string;
  now: Now;
  /** Milliseconds of a clock that is never set. */
  elapsed: () => number;
  /** Runs `larder backup PLACE --increment` in a thread, with `--thin` if `thins`; undefined if the store stops. */
  add: (place: string, thins: boolean) => Promise<IncrementOutput | undefined>;
}

export interface IncrementOutput {
  /** Set if the store has not changed since the last backup there. */
  unchanged?: true;
}

/** How often the job looks whether an increment is due. */
const checkIntervalMs = minutes(1);

/** After this time the place is asked although nothing has changed: a full backup may be due. */
const maxIdleMs = hours(12);

/** How often old backups are removed: that reads the manifests of all. */
const thinIntervalMs = hours(1);

const madeWords = wordsOfAct(makeBackup.name);

export function addIncrements(options: IncrementJobOptions): BackgroundJob {
  const { records, settings, configuration, now, elapsed, add } = options;
  let tried: { at: number; place: string } | undefined;
  let thinnedAt = -Infinity;
  let last: { at: number; seq: number; digest: string } | undefined;
  /** Whether a backup was made lately, perhaps by another host. */
  const isMade = async (since: number, intervalMs: number): Promise<boolean> =>
    (await records.audit.withWords(madeWords, since)).some(
      ({ at }) => Math.abs(now().getTime() - Date.parse(at)) < intervalMs,
    );
  return {
    name: 'add-increments',
    every: checkIntervalMs,
    inDoubt: 'runs',
    async run() {
      const { place, every } = settings();
      if (place === undefined) return {};
      if (tried?.place !== place) tried = last = undefined;
      const [at, digest, intervalMs] = [elapsed(), configuration(), toMilliseconds(every)];
      if (tried !== undefined && at - tried.at < intervalMs) return {};
      if (last !== undefined) {
        if (await isMade(last.seq, intervalMs)) return {};
        if (last.digest === digest && at - last.at < maxIdleMs && (await hasOnlyBackupEntries(records, last.seq)))
          return {};
      }
      tried = { at, place };
      // Read before the backup: a change while it is made is for the next one.
      const seq = (await records.audit.head())?.seq ?? 0;
      const thins = at - thinnedAt >= thinIntervalMs;
      const made = await add(place, thins);
      if (made === undefined) return {};
      if (thins) thinnedAt = at;
      last = { at, seq, digest };
      return { increments: made.unchanged === true ? 0 : 1 };
    },
  };
}

const toMilliseconds = (every: string): number => (every.endsWith('h') ? hours : minutes)(parseInt(every, 10));
