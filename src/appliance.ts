// The appliance: builds every part by hand, in order, and starts and stops them.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import type { Logger } from 'pino';

import { softwareSigner } from '#assertions/signer.ts';
import { createServer } from '#api/server.ts';
import type { Services } from '#api/services.ts';
import { diskBlobs } from '#blobs/disk.ts';
import { digestPool } from '#blobs/digests.ts';
import type { Now } from '#domain/clock.ts';
import { seconds } from '#domain/clock.ts';
import { randomIds, type NewIds } from '#domain/ids.ts';
import { expireBranches } from '#jobs/expire-branches.ts';
import { forgetImageBlobs } from '#jobs/forget-image-blobs.ts';
import { forgetUploads } from '#jobs/forget-uploads.ts';
import { createIdentity } from '#identity/identity.ts';
import { identityOperations } from '#identity/operations.ts';
import { timeKeeper } from '#jobs/remember-time.ts';
import { reviewQueue } from '#jobs/review-uploads.ts';
import { runJobs } from '#jobs/runner.ts';
import { sweepBlobs } from '#jobs/sweep-blobs.ts';
import { retireKeys } from '#jobs/retire-keys.ts';
import { createAuthority, type Authority } from '#macaroons/authority.ts';
import { createDischargerKeys, type DischargerKeys } from '#macaroons/discharger-keys.ts';
import { createDischarger } from '#macaroons/discharger.ts';
import { latestTime, type LatestTime } from '#macaroons/latest-time.ts';
import { createRootKeys, type RootKeys } from '#macaroons/root-keys.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import { operations } from '#operations/index.ts';
import { records, type Records } from '#records/index.ts';
import { migrate } from '#records/migrate.ts';
import { openSqlite } from '#records/sqlite.ts';
import { createRegistry } from '#registry/registry.ts';
import { createReviewer } from '#review/reviewer.ts';
import { readConfig, type Config } from './config.ts';
import { embeddedNames, embeddedText, startWorker } from './embedded.ts';
import { createLog } from './log.ts';
import { nativeBinding } from './native.ts';
import { readMasterKey, readSiteKey } from './secrets.ts';
import { version } from './version.ts';

export interface StoreOptions {
  /** The data directory. */
  directory: string;
  now?: Now;
  newId?: NewIds;
  /** Where systemd puts credentials, if it does. */
  credentials?: string | undefined;
  /** Told when the disk broke a promise: the process must end at once, with an error. */
  fatal?: (error: Error) => void;
}

/** The records of a data directory and what is needed to change them: what commands on the host work with. */
export interface Store {
  directory: string;
  config: Config;
  records: Records;
  authority: Authority;
  rootKeys: RootKeys;
  dischargerKeys: DischargerKeys;
  latestTime: LatestTime;
  /** Under which secrets are sealed in the records. */
  siteKey: Buffer;
  now: Now;
  newId: NewIds;
  close(): Promise<void>;
}

/** Opens the records beside a serving process or without one. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { directory, now = () => new Date(), newId = randomIds, credentials, fatal } = options;
  const config = readConfig(join(directory, 'larder.toml'));
  const siteKey = readSiteKey({ directory, credentials, masterKeyFile: undefined });
  const { records: known, close } = await openRecords(directory, fatal);
  try {
    const latest = latestTime(now);
    const clock = (): Date => latest.now();
    const life = (): number => store.config.identity.root_key_days;
    const rootKeys = createRootKeys({ records: known, siteKey, newId, clock, life });
    const dischargerKeys = createDischargerKeys({ records: known, siteKey, clock });
    const location = (): string => store.config.http.base_url;
    const authority = createAuthority({ records: known, rootKeys, dischargerKeys, latestTime: latest, now, newId, location });
    const parts = { records: known, authority, rootKeys, dischargerKeys, latestTime: latest };
    const store: Store = { directory, config, ...parts, siteKey, now, newId, close };
    return store;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the database of a data directory, and brings it up to date. */
export async function openRecords(
  directory: string,
  fatal?: (error: Error) => void,
): Promise<{ records: Records; close: () => Promise<void> }> {
  const file = join(directory, 'larder.db');
  const db = openSqlite(file, { nativeBinding: nativeBinding(), ...(fatal && { fatal }) });
  try {
    await migrate(db, migrations());
    return { records: records(db), close: () => db.close() };
  } catch (error) {
    await db.close();
    throw error;
  }
}

export interface ApplianceOptions extends StoreOptions {
  /** HOST:PORT instead of the configuration's. */
  listen?: string | undefined;
  log?: Logger;
  /** Whether every answer is held against its shape; for development and tests. */
  checkAnswers?: boolean;
}

export interface Appliance {
  /** Where it really listens, such as `http://127.0.0.1:8080`. */
  url: string;
  log: Logger;
  /** Reads the configuration again; throws, and keeps the old one, when the new one is not accepted. */
  reload(): void;
  /** Resolves when no upload waits for its review any more. */
  reviewed(): Promise<void>;
  /** Finishes the requests under way, then the jobs, then the records. */
  stop(): Promise<void>;
}

/** Another process serves this data directory already. */
export class DataDirectoryInUse extends Error {
  constructor(directory: string) {
    super(`The data directory ${directory} is in use: another larder serves it.`);
    this.name = 'DataDirectoryInUse';
  }
}

/** How long a stop waits for the requests under way. */
const patience = seconds(30);

/** Starts serving a data directory; resolves when it answers requests. */
export async function startAppliance(options: ApplianceOptions): Promise<Appliance> {
  const { directory } = options;
  const lock = lockDirectory(directory);
  const broken: string[] = [];
  const fatal = (error: Error): void => {
    broken.push('The disk failed under a write; the appliance must be restarted on a good disk.');
    options.fatal?.(error);
  };
  const digests = digestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker));
  const reviewer = createReviewer({ startWorker: (worker) => startWorker('src/review/worker.ts', worker) });
  let store: Store | undefined;
  try {
    store = await openStore({ ...options, fatal });
    let { config } = store;
    const { records: known, authority, now, newId } = store;
    const log = options.log ?? createLog(config.log.level);
    const blobs = await diskBlobs({ directory, reserve: config.uploads.reserve, digests, fatal });
    await blobs.sweepTemporary(() => false);

    const startedWith = config;
    const places = ({ keys }: Config) => ({
      directory,
      credentials: options.credentials,
      masterKeyFile: keys.master_key_file,
    });
    let masterKey = readMasterKey(places(config));
    const signer = softwareSigner((keyId) => known.signingKeys.find(keyId), () => masterKey);

    const clock = await timeKeeper(known, store.latestTime, now);
    const queue = reviewQueue({ records: known, blobs, reviewer, digests, now, newId, log });

    const { siteKey, latestTime: latest, dischargerKeys } = store;
    const discharger = createDischarger({ keys: dischargerKeys, siteKey, clock: () => latest.now() });
    const identity = createIdentity({ records: known, siteKey, now });

    const registry = createRegistry({
      records: known,
      clock: () => latest.now(),
      newId,
      seal: (secret, purpose) => seal(siteKey, secret, purpose),
      unseal: (sealed, purpose) => unseal(siteKey, sealed, purpose),
      receive: blobs.receive,
      declaredType: async ({ packageId, resource }) => (await known.resources.declared(packageId, resource))?.type,
    });

    const services = (): Services => current;
    const build = (): Services => ({
      records: known,
      authority,
      discharger,
      identity,
      registry,
      blobs,
      signer,
      masterKey: () => masterKey,
      config,
      now,
      newId,
      log,
      reviewSoon: () => {
        queue.soon();
      },
      health: () => ({
        working: broken.length === 0,
        problems: [
          ...broken,
          ...[clock.problem()].filter((problem) => problem !== undefined),
          ...(masterKey === undefined ? ['The store is sealed: without the signing master key it signs nothing.'] : []),
        ],
      }),
      version,
    });
    let current = build();

    const server = createServer({ operations: [...operations, ...identityOperations], services, checkAnswers: options.checkAnswers ?? false });
    const url = await listen(server, options.listen ?? config.http.listen);
    const jobs = runJobs(
      [
        forgetUploads(known, blobs, now, () => config.uploads.unclaimed_hours),
        forgetImageBlobs(known, now),
        sweepBlobs(known, blobs, now),
        expireBranches(known, now),
        retireKeys(known, store.latestTime),
        clock.job,
      ],
      log,
      seconds(5),
    );
    queue.soon();
    const ballast = setTimeout(() => {
      blobs.keepBallast().catch((error: unknown) => {
        log.warn({ err: error }, 'cannot set the ballast aside');
      });
    }, seconds(2)).unref();
    log.info({ url, directory, version, sealed: masterKey === undefined }, 'serving');

    const opened = store;
    return {
      url,
      log,
      reload() {
        const fresh = readConfig(join(directory, 'larder.toml'));
        const key = readMasterKey(places(fresh));
        config = fresh;
        masterKey = key;
        opened.config = config;
        log.level = config.log.level;
        current = build();
        log.info('configuration reloaded');
        const waiting = forRestart(startedWith, config, options.listen !== undefined);
        if (waiting.length > 0) log.warn({ keys: waiting }, 'changed, but only a restart makes it count');
      },
      reviewed: () => queue.idle(),
      async stop() {
        log.info('stopping');
        clearTimeout(ballast);
        identity.interactions.close();
        await close(server);
        await registry.uploads.close();
        await jobs.stop();
        const stopping = queue.stop();
        await reviewer.close();
        await stopping;
        await digests.close();
        await clock.keep();
        await opened.close();
        lock.close();
        log.info('stopped');
        log.flush();
      },
    };
  } catch (error) {
    await reviewer.close();
    await digests.close();
    await store?.close();
    lock.close();
    throw error;
  }
}

/** The migrations that travel with the program, in order. */
export const migrations = (): { name: string; text: string }[] =>
  embeddedNames('src/records/migrations').map((file) => ({
    name: file.replace(/\.sql$/, ''),
    text: embeddedText(`src/records/migrations/${file}`),
  }));

/** The keys that differ and are read only at the start. */
function forRestart(before: Config, now: Config, listensElsewhere: boolean): string[] {
  return [
    ...(before.http.listen === now.http.listen || listensElsewhere ? [] : ['http.listen']),
    ...(before.uploads.reserve === now.uploads.reserve ? [] : ['uploads.reserve']),
  ];
}

/** Holds the data directory until `close`; the operating system lets go of it when the process dies. */
export function lockDirectory(directory: string): { close(): unknown } {
  const file = join(directory, 'store.lock');
  const binding = nativeBinding();
  const lock = new SQLite(file, { timeout: 0, ...(binding && { nativeBinding: binding as unknown as string }) });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof SQLite.SqliteError && error.code === 'SQLITE_BUSY') throw new DataDirectoryInUse(directory);
    throw error;
  }
}

async function listen(server: Server, where: string): Promise<string> {
  const colon = where.lastIndexOf(':');
  const host = where.slice(0, colon).replace(/^\[|\]$/g, '');
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  server.once('error', reject);
  server.listen({ host, port: Number(where.slice(colon + 1)) }, () => {
    resolve(undefined);
  });
  try {
    await promise;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`cannot listen on ${where}: another program listens there`, { cause: error });
  }
  const address = server.address() as AddressInfo;
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

async function close(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.close(() => {
    resolve(undefined);
  });
  server.closeIdleConnections();
  // A connection is idle again when its request under way is finished.
  const sweep = setInterval(() => {
    server.closeIdleConnections();
  }, 100);
  const timer = setTimeout(() => {
    server.closeAllConnections();
  }, patience);
  await promise;
  clearInterval(sweep);
  clearTimeout(timer);
}
