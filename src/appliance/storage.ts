// Opens the storage of the appliance: the data directory, its records and blobs, and the reports of their health.
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import type { Logger } from 'pino';

import { releaseBallast } from '#blobs/ballast.ts';
import { createDigestPool, type DigestPool } from '#blobs/digests.ts';
import type { DiskBlobs } from '#blobs/disk.ts';
import type { S3Blobs } from '#blobs/s3.ts';
import { openBlobs as openBlobsOf } from '#data/blobs-place.ts';
import { lockFile, lockToServe } from '#data/lock.ts';
import { watchLostFiles } from '#platform/lost-files.ts';
import type { OpenRecordsOptions } from '#data/records.ts';
import { openStore, type StoreHandle } from '#data/store.ts';
import { DatabaseLost } from '#engine/sqlite/disk-errors.ts';
import type { RowPlace } from '#engine/sqlite/row-digests.ts';
import { blobReports, type BlobReports } from '#integrity/blob-reports.ts';
import { createSuspectCheck } from '#integrity/scrub.ts';
import { keepRoom, type RoomKeeper } from '#jobs/store/keep-room.ts';
import { createTimeKeeper, type TimeKeeper } from '#jobs/store/remember-time.ts';
import { storeKeyCheck } from '#macaroons/site-key.ts';
import { readConfig, type Config } from '#configuration/config.ts';
import { startWorker } from '#platform/embedded.ts';
import { createHealth, type Health } from '#platform/health.ts';
import { createLog, isForPeople } from '#platform/log.ts';
import { createLeases, type OwnLeases } from '#shared/leases.ts';
import { newHolder, otherHosts, registerProcess, endDeadProcesses, isAloneNow } from '#shared/processes.ts';
import { createShares } from '#shared/shares.ts';
import type { Shares } from '#blobs/shares.ts';
import { watchEngines, type RemoteEngine, type Engines } from './watch/engines.ts';
import type { ApplianceOptions } from './options.ts';
import type { ApplianceParts } from './parts.ts';
import { watchLock } from './watch/database-lock.ts';
import { shareOf } from './team.ts';

export interface Storage {
  store: StoreHandle;
  log: Logger;
  /** Whether the log is text for people. */
  isLogText(): boolean;
  health: Health;
  /** Whether a sync has failed: nothing written from then on is reliable. */
  isBroken(): boolean;
  /** Whether changes get access to the database. */
  lock: { isFree(): boolean };
  /** The engines on other hosts. */
  engines: Engines;
  clock: TimeKeeper;
  /** The leases of this process, each held by one process of the store at a time. */
  leases: OwnLeases;
  /** The shares of this process in the amounts of its host, and of the store. */
  shares: { readonly ofHost: Shares; readonly ofStore: Shares };
  digests: DigestPool;
  /** The scrub has threads of its own, so that uploads never wait for it. */
  scrubDigests: DigestPool;
  blobs: DiskBlobs | S3Blobs;
  reports: BlobReports;
  room: RoomKeeper;
}

export async function openStorage(parts: ApplianceParts, options: ApplianceOptions): Promise<Storage> {
  const { directory } = options;
  await parts.start(
    'lock',
    () => (isAlongside(options) ? undefined : lockToServe(directory)),
    (lock) => lock?.close(),
  );
  const config = readConfig(join(directory, 'larder.toml'));
  const { log: settings } = config;
  const asText = (): boolean => isForPeople(options.logFormat ?? settings.format, process.stderr.isTTY);
  const log = options.log ?? createLog(settings.level, { asText, worker: options.team?.number });
  const health = createHealth(log);
  const promises = diskPromises(health, options.fatal);
  const telling = { log, health, fatal: promises.fatal };
  const room = keepRoom(() => releaseBallast(join(directory, 'blobs')), health);
  const store = await parts.start(
    'records',
    () => openStoreToServe(options, telling, { room, meets: (hosts) => refuseOtherHosts(config, hosts) }),
    (store) => store.close(),
  );
  const { records, now } = store;
  const { leases, shares, isAlone } = await joinProcesses(parts, options, store, config);
  // If two processes start at the same time, neither sees the other before it is registered, so check again.
  if (records.server !== undefined) refuseOtherHosts(config, await otherHosts(records, now));
  await parts.start(
    'seals',
    () => undefined,
    () => records.seal(),
  );
  const clock = await parts.start(
    'clock',
    () => createTimeKeeper(records, store.acts, store.latestTime, now, options.team?.keeps),
    (clock, served) => served && clock.keep(),
  );
  health.watch('clock', () => clock.doubt());
  const files = await openBlobs(parts, options, store, { ...telling, shares: shares.ofHost, isAlone });
  const engines = await watchEngines(parts, enginesOf(store, files), { health });
  const lock = await watchLock(parts, { database: store.database, health });
  await watchFiles(parts, options, store);
  return {
    store,
    log,
    isLogText: asText,
    health,
    lock,
    isBroken: promises.areBroken,
    engines,
    clock,
    leases,
    shares,
    room,
    ...files,
  };
}

const enginesOf = ({ records: { server } }: StoreHandle, { blobs }: Pick<Storage, 'blobs'>): RemoteEngine[] => [
  ...(server === undefined
    ? []
    : [{ name: 'The database of the store', about: 'Database server', clock: () => server.clock() }]),
  ...('clock' in blobs ? [{ name: 'The bucket of the store', about: 'Server of the files', ...asEngine(blobs) }] : []),
];

const asEngine = (bucket: S3Blobs): Omit<RemoteEngine, 'name' | 'about'> => ({
  clock: () => bucket.clock(),
  whyNot: (error) => bucket.whyNot(error),
  trouble: () => bucket.trouble(),
});

/** Whether another process holds the data directory. */
const isAlongside = ({ alongside, team }: ApplianceOptions): boolean => alongside === true || team !== undefined;

/** Ends the process if it has lost its files; not without `fatal`, which ends it. */
async function watchFiles(
  parts: ApplianceParts,
  options: ApplianceOptions,
  { directory, database: { place } }: StoreHandle,
): Promise<void> {
  const { fatal } = options;
  if (fatal === undefined) return;
  const names = [...(isAlongside(options) ? [] : [lockFile]), ...('file' in place ? ['larder.db'] : [])];
  await parts.start(
    'own files',
    () => watchLostFiles(directory, { names, fatal }),
    (watch) => watch.stop(),
  );
}

function refuseOtherHosts(config: Pick<Config, 'blobs'>, hosts: readonly string[]): void {
  const reason = findHostConflict(config, hosts);
  if (reason !== undefined) throw new Error(reason);
}

/** Files in a folder belong to one host: another host would have records of files that it does not have. */
function findHostConflict({ blobs }: Pick<Config, 'blobs'>, [other]: readonly string[]): string | undefined {
  if (other === undefined || blobs.s3 !== undefined) return undefined;
  return (
    `cannot serve the store: its files are in a folder of ${other}, which serves it as well, or did a minute ago; ` +
    "have all hosts keep them in one bucket ([blobs] s3 in larder.toml, 'larder move'), or serve it on one of them"
  );
}

/** Registers this process with the others of the store; releases the leases and shares of a dead process. */
async function joinProcesses(
  parts: ApplianceParts,
  options: ApplianceOptions,
  { records, newId, now }: StoreHandle,
  config: Pick<Config, 'blobs'>,
) {
  const { isAlone } = await endDeadProcesses(records, now);
  // While this host was cut off from the records, another host may have taken over, with files that this one does not
  // have.
  const mayReturn = (others: string[]): boolean => {
    const reason = findHostConflict(config, others);
    if (reason !== undefined) options.fatal?.(new Error(reason));
    return reason === undefined;
  };
  if (isAlongside(options) || records.server !== undefined) {
    await parts.start(
      'process',
      () => registerProcess(records, now, { mayReturn }),
      (served) => served.end(),
    );
  }
  const holder = newHolder(newId);
  const leases = await parts.start(
    'leases',
    () => createLeases({ records, holder, now }),
    (own) => own.releaseLeases(),
  );
  const sharesOf = (ofHost: boolean): Shares => createShares({ records, holder, now, ofHost });
  return {
    leases,
    shares: { ofHost: sharesOf(true), ofStore: sharesOf(false) },
    isAlone: isAlone && (options.team?.begins ?? !isAlongside(options)),
  };
}

/** Reports a failed sync, or a lost lock, as a fault, and to the caller that started the appliance. */
function diskPromises(health: Health, onFailure: ApplianceOptions['fatal']) {
  let isBroken = false;
  health.watch('write-failed', () => (isBroken ? {} : undefined));
  return {
    areBroken: () => isBroken,
    fatal(error: Error) {
      if (error instanceof DatabaseLost) {
        onFailure?.(error);
        return;
      }
      isBroken = true;
      const message = 'the disk failed under a write; serve this data again only from a good disk';
      onFailure?.(new Error(message, { cause: error }));
    },
  };
}

interface StorageReporters {
  log: Logger;
  health: Health;
  fatal: (error: Error) => void;
}

async function openStoreToServe(
  options: ApplianceOptions,
  { log, health, fatal }: StorageReporters,
  { room: { makeRoom }, meets }: { room: RoomKeeper; meets: NonNullable<OpenRecordsOptions['meets']> },
): Promise<StoreHandle> {
  const damaged = (table: string, row: RowPlace): void => {
    health.report('damaged-row', { table, row: String(row) });
  };
  const waits = (place: string): void => log.warn(`${place} does not respond yet; waiting for it`);
  const store = await openStore({ ...options, fatal, held: true, makeRoom, damaged, meets, waits });
  try {
    await storeKeyCheck(store.records, store.acts, store.siteKey);
  } catch (error) {
    await store.close();
    throw error;
  }
  if (store.upgrade !== undefined) {
    const copyNote = store.upgrade.copy === undefined ? '' : '; the database as it was is kept in a copy';
    log.info(store.upgrade, `upgraded data of an older release${copyNote}`);
    if (store.upgrade.problems > 0) {
      log.error(store.upgrade, 'the database was damaged before it was upgraded; the copy is the evidence');
    }
  }
  store.sealing.hear((problem) => {
    health.report('audit-log', problem === undefined ? undefined : { because: problem });
  });
  return store;
}

async function openBlobs(
  parts: ApplianceParts,
  options: ApplianceOptions,
  { directory, config, records, acts, now }: StoreHandle,
  { log, health, fatal, shares, isAlone }: StorageReporters & { shares: Shares; isAlone: boolean },
): Promise<Pick<Storage, 'blobs' | 'digests' | 'scrubDigests' | 'reports'>> {
  const startDigests = (name: string, size: number): Promise<DigestPool> =>
    parts.start(
      name,
      () => createDigestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker), size),
      (pool) => pool.close(),
    );
  const scrubDigests = await startDigests('digests of the scrub', 1);
  const digests = await startDigests('digests', shareOf(availableParallelism(), options.team));
  const reports = blobReports(records, health);
  await reports.damaged();
  const damaged = createSuspectCheck({
    records,
    acts,
    blobs: (): DiskBlobs => blobs,
    digests: scrubDigests,
    reports,
    now,
    log,
  });
  const begin = async (): Promise<DiskBlobs | S3Blobs> => {
    const places = options.limits?.uploads;
    const how = { directory, digests, fatal, damaged, now, places, shares, tries: true };
    const opened = await openBlobsOf({ config, records }, how);
    // Unfinished uploads ended with the last process, unless another process continues them.
    if (isAlone) {
      // A command may have begun since that look: it registers before it creates a file.
      await opened.sweepTemporary(async () => !(await isAloneNow(records, now)));
      if ((await records.registryUploads.countAll('')) > 0)
        await records.ephemeral((tx) => tx.registryUploads.giveUpAll());
    }
    return opened;
  };
  const blobs = await parts.start('blobs', begin, (opened) => opened.close());
  return { digests, scrubDigests, blobs, reports };
}
