// The appliance: builds every part by hand, in order, and starts and stops them.
import { statfsSync, statSync } from 'node:fs';
import { Server as TlsServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from 'pino';

import { createActs, type Acts } from '#acts/act.ts';
import { requestIds } from '#assertions/request-ids.ts';
import { softwareSigner } from '#assertions/signer.ts';
import { readTrusted } from '#assertions/trusted.ts';
import { createDocuments } from '#api/documents/documents.ts';
import { connectionLimits, type ConnectionLimits } from '#api/connections.ts';
import { createMetrics, type StoreState } from '#api/metrics.ts';
import { createServer } from '#api/server.ts';
import { createUnknownProxies } from '#api/unknown-proxies.ts';
import type { Services } from '#api/services.ts';
import { keepForReturn } from '#backup/before-upgrade.ts';
import { releaseBallast } from '#blobs/ballast.ts';
import { digestPool, type DigestPool } from '#blobs/digests.ts';
import { diskBlobs, type DiskBlobs } from '#blobs/disk.ts';
import type { PlaceOptions } from '#blobs/places.ts';
import type { Now } from '#domain/clock.ts';
import { days, hours, seconds, timestamp } from '#domain/clock.ts';
import { randomIds, type NewIds } from '#domain/ids.ts';
import { expireBranches } from '#jobs/expire-branches.ts';
import { forgetImages } from '#jobs/forget-images.ts';
import { forgetInvites } from '#jobs/forget-invites.ts';
import { forgetSessions } from '#jobs/forget-sessions.ts';
import { forgetUploads } from '#jobs/forget-uploads.ts';
import { blobReports } from '#integrity/blob-reports.ts';
import { proofOfRecords } from '#integrity/prove-records.ts';
import { startScrub, suspicions, type Scrub, type ScrubState } from '#integrity/scrub.ts';
import { timeKeeper } from '#jobs/remember-time.ts';
import { revisionSigning } from '#jobs/sign-revisions.ts';
import { reviewQueue } from '#jobs/review-uploads.ts';
import { runJobs, type JobState, type Runner } from '#jobs/runner.ts';
import { renewCertificate } from '#jobs/renew-certificate.ts';
import { createIdentity } from '#identity/identity.ts';
import { identitySection } from '#identity/operations.ts';
import { sweepBlobs } from '#jobs/sweep-blobs.ts';
import { keepRoom, type RoomKeeper } from '#jobs/keep-room.ts';
import { retireKeys } from '#jobs/retire-keys.ts';
import { sealAudit } from '#jobs/seal-audit.ts';
import { createAuthority, type Authority } from '#macaroons/authority.ts';
import { createDischargerKeys, type DischargerKeys } from '#macaroons/discharger-keys.ts';
import { createDischarger } from '#macaroons/discharger.ts';
import { latestTime, type LatestTime } from '#macaroons/latest-time.ts';
import { createRootKeys, type RootKeys } from '#macaroons/root-keys.ts';
import { keepKeyCheck, refuseForeignKey } from '#macaroons/site-key.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import { documentsAt } from '#operations/appliance/documents.ts';
import { sections } from '#operations/index.ts';
import { beginSealing, chainsSeals, type SealFile, type Sealing } from '#records/audit-seals.ts';
import { records, type Records } from '#records/index.ts';
import { checkDatabase } from '#records/check.ts';
import { migrate, missing } from '#records/migrate.ts';
import { openSqlite } from '#records/sqlite.ts';
import { createRegistry } from '#registry/registry.ts';
import { createSignedTokens, type SignedTokens } from '#registry/signed-tokens.ts';
import { createReviewer } from '#review/reviewer.ts';
import { makeSigningCertificate } from '#tls/certificates.ts';
import { keepTls, readCertificates, type Keeping, type ServerTls } from '#tls/keeper.ts';
import { secureContext, speaksTls, tlsSettings } from '#tls/settings.ts';
import { makeFolder, prepareFile, readConfig, type Config } from './config.ts';
import { openFilesLimit } from './descriptors.ts';
import { embeddedNames, embeddedText, startWorker } from './embedded.ts';
import { createHealth } from './health.ts';
import { close, listen } from './listening.ts';
import { lockDirectory } from './lock.ts';
import { createLog, isForPeople, type LogFormat } from './log.ts';
import { nativeBinding, nativePath } from './native.ts';
import { readMasterKey, readSiteKey } from './secrets.ts';
import { sealFileIn } from './seal-file.ts';
import { removeState, writeState } from './state-file.ts';
import { version } from './version.ts';
import { watchSettings } from './watched-settings.ts';

export interface StoreOptions {
  /** The data directory. */
  directory: string;
  now?: Now;
  /** A clock that nobody sets, in milliseconds from whenever; against it a step of `now` is noticed. */
  elapsed?: (() => number) | undefined;
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
  acts: Acts;
  authority: Authority;
  rootKeys: RootKeys;
  dischargerKeys: DischargerKeys;
  latestTime: LatestTime;
  /** Under which secrets are sealed in the records. */
  siteKey: Buffer;
  sealing: AuditSealing;
  now: Now;
  newId: NewIds;
  /** What was done to data of an older release when it was opened. */
  upgrade: Upgrade | undefined;
  close(): Promise<void>;
}

/** Opens the records beside a serving process or without one. */
export async function openStore(options: StoreOptions & Opening): Promise<Store> {
  const { directory, now = () => new Date(), newId = randomIds, credentials } = options;
  const config = readConfig(join(directory, 'larder.toml'));
  const siteKey = readSiteKey({ directory, credentials, masterKeyFile: undefined });
  const { records: known, upgrade, sealing, close } = await openRecords(directory, { ...options, siteKey });
  try {
    await refuseForeignKey(known, siteKey);
    await settleSeals(known);
    const latest = latestTime(now, options.elapsed);
    const clock = (): Date => latest.now();
    const life = (): number => store.config.identity.root_key_days;
    const rootKeys = createRootKeys({ records: known, siteKey, newId, clock, life });
    const dischargerKeys = createDischargerKeys({ records: known, siteKey, clock });
    const location = (): string => store.config.http.base_url;
    const authority = createAuthority({
      records: known,
      rootKeys,
      dischargerKeys,
      latestTime: latest,
      newId,
      location,
      longestLife: () => days(store.config.identity.longest_token_days),
    });
    const acts = createActs(known, now);
    const parts = { records: known, acts, authority, rootKeys, dischargerKeys, latestTime: latest };
    const store: Store = { directory, config, ...parts, siteKey, sealing, now, newId, upgrade, close };
    return store;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Brings the seals of the audit log to where a process that was killed, or a release without them, has not. */
async function settleSeals(known: Records): Promise<void> {
  await known.settleSeals();
  if ((await known.auditSeals.newest()) === undefined) await known.seal();
}

/** How the records of a data directory are opened. */
export interface Opening {
  fatal?: (error: Error) => void;
  /** Whether this process holds the data directory already. */
  held?: boolean;
  now?: Now;
  /** Makes room for the database on a full disk, instead of giving up the ballast alone. */
  makeRoom?: () => Promise<boolean>;
  /** Told of a row that is not as it was written, when somebody was about to build on it. */
  damaged?: (table: string, row: number) => void;
  /** Under which the audit log is sealed; without it what is written is not sealed, and so does not count as whole. */
  siteKey?: Buffer;
  /** The database, where it is not the one of the data directory. */
  file?: string;
}

/** How the audit log of a data directory is sealed. */
export interface AuditSealing {
  file: SealFile;
  /** What is wrong with the seals, as far as it was noticed. */
  problem(): string | undefined;
  /** Tells that now, and whenever it is looked at again. */
  hear(listener: (problem: string | undefined) => void): void;
}

/** Data of an older release that was brought up to date. */
export interface Upgrade {
  /** The names of the migrations that ran. */
  migrations: string[];
  /** The database as it was before. */
  copy: string;
  /** How many things were wrong with it then. The digests of its rows are made anew, and tell of that no more. */
  problems: number;
}

/**
 * Opens the database of a data directory, and brings it up to date. Data of an older release is copied before anything
 * in it is changed, and is left alone while another process, perhaps of that release, serves it.
 */
export async function openRecords(
  directory: string,
  {
    fatal,
    damaged,
    held = false,
    now = () => new Date(),
    makeRoom = () => releaseBallast(join(directory, 'blobs')),
    siteKey,
    file = join(directory, 'larder.db'),
  }: Opening = {},
): Promise<{ records: Records; upgrade: Upgrade | undefined; sealing: AuditSealing; close: () => Promise<void> }> {
  const binding = nativeBinding();
  const sealing = sealingOf(directory, siteKey);
  const db = openSqlite(file, {
    nativeBinding: binding,
    makeRoom,
    ...(fatal && { fatal }),
    ...(damaged && { damaged }),
  });
  let lock: { close(): unknown } | undefined;
  let upgrade: Upgrade | undefined;
  try {
    const isUpgrade = async (): Promise<string | undefined> => {
      const { names, fresh } = await missing(db, migrations());
      return fresh ? undefined : names[0];
    };
    if ((await isUpgrade()) !== undefined && !held) lock = await lockForUpgrade(directory, isUpgrade);
    // Asked again: another process may have upgraded it before the directory was ours.
    const migration = await isUpgrade();
    const copy = migration && (await keepForReturn({ directory, migration, makeFolder, nativeBinding: binding }));
    const problems = copy === undefined ? 0 : checkDatabase(file, { nativeBinding: binding }).length;
    const isUnsealed = !(await chainsSeals(db));
    if (isUnsealed && sealing.with !== undefined) {
      // Nothing is sealed with the key of another store.
      if (migration !== undefined) await refuseForeignKey(records(db), sealing.with.siteKey);
      beginSealing(sealing.with);
    }
    const ran = await migrate(db, migrations());
    db.keepRowDigests();
    const known = records(db, sealing.with);
    if (copy !== undefined && ran.length > 0) {
      upgrade = { migrations: ran, copy, problems };
      const entry = { at: timestamp(now()), actor: 'larder', action: 'upgrade', object: 'store' };
      const told = { ...entry, details: { migrations: ran, version, problems } };
      // Seals of a later time are those of data that an older release has put aside since.
      await (isUnsealed ? known.beginAnew : known.change)(told, () => Promise.resolve());
    }
    return { records: known, upgrade, sealing, close: () => db.close() };
  } catch (error) {
    await db.close();
    throw error;
  } finally {
    lock?.close();
  }
}

/** How the audit log is sealed, with the key for it where there is one. */
function sealingOf(directory: string, siteKey: Buffer | undefined): AuditSealing & { with: Sealing | undefined } {
  const file = sealFileIn(directory);
  let problem: string | undefined;
  const listeners: ((problem: string | undefined) => void)[] = [];
  const report = (found: string | undefined): void => {
    problem = found;
    for (const listener of listeners) listener(found);
  };
  const hear = (listener: (problem: string | undefined) => void): void => {
    listeners.push(listener);
    listener(problem);
  };
  return { file, problem: () => problem, hear, with: siteKey && { siteKey, file, report } };
}

/**
 * Holds the directory for an upgrade. Whoever holds it already may be a server of this release in the midst of the very
 * upgrade, and is given a moment; nothing when it has done it.
 */
async function lockForUpgrade(
  directory: string,
  isUpgrade: () => Promise<string | undefined>,
): Promise<{ close(): unknown } | undefined> {
  for (const deadline = performance.now() + seconds(5); ;) {
    try {
      return lockDirectory(directory);
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await sleep(100);
    if ((await isUpgrade()) === undefined) return undefined;
  }
}

export interface ApplianceOptions extends StoreOptions {
  /** HOST:PORT instead of the configuration's. */
  listen?: string | undefined;
  log?: Logger;
  /** How the lines of the log are written, instead of as the configuration says. */
  logFormat?: LogFormat | undefined;
  /** Whether every answer is held against its shape; for development and tests. */
  checkAnswers?: boolean;
  /** Other limits than the store's own, on connections and on uploads; for tests. */
  limits?: { connections?: Partial<ConnectionLimits>; uploads?: Partial<PlaceOptions> };
  /** Milliseconds from the start to the first run of what comes round again; five seconds unless said otherwise. */
  jobsAfter?: number;
}

export interface Appliance {
  /** Where it really listens, such as `http://127.0.0.1:8080`. */
  url: string;
  log: Logger;
  /** Reads the configuration again; throws, and keeps the old one, when the new one is not accepted. */
  reload(): void;
  /** How far the blobs have been read again. */
  scrubbed(): ScrubState;
  /** How the work that comes round again has gone. */
  jobs(): JobState[];
  /** Resolves when no upload waits for its review any more. */
  reviewed(): Promise<void>;
  /** Finishes the requests under way, then the jobs, then the records. */
  stop(): Promise<void>;
}

/** Starts serving a data directory; resolves when it answers requests. */
export async function startAppliance(options: ApplianceOptions): Promise<Appliance> {
  const { directory } = options;
  const lock = lockDirectory(directory);
  let broken: string | undefined;
  const fatal = (error: Error): void => {
    broken = 'The disk failed under a write; the appliance must be restarted on a good disk.';
    options.fatal?.(error);
  };
  const digests = digestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker));
  // A thread of its own: uploads never wait for the scrub.
  const scrubDigests = digestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker), 1);
  const reviewer = createReviewer({ startWorker: (worker) => startWorker('src/review/worker.ts', worker) });
  let store: Store | undefined;
  try {
    let room: RoomKeeper | undefined;
    const makeRoom = (): Promise<boolean> => room?.makeRoom() ?? releaseBallast(join(directory, 'blobs'));
    let damagedRow: (table: string, row: number) => void = () => undefined;
    const damagedRecord = (table: string, row: number): void => damagedRow(table, row);
    store = await openStore({ ...options, fatal, held: true, makeRoom, damaged: damagedRecord });
    let { config } = store;
    const { records: known, acts, authority, now, newId, sealing } = store;
    const asText = (): boolean => isForPeople(options.logFormat ?? config.log.format, process.stderr.isTTY);
    const log = options.log ?? createLog(config.log.level, { asText });
    const health = createHealth(log);
    await keepKeyCheck(known, store.siteKey, now);
    health.watch('write', () => broken);
    damagedRow = (table, row) => health.report('damaged-records', damagedRecordWords(table, row));
    if (store.upgrade !== undefined) {
      log.info(store.upgrade, 'upgraded data of an older release; the database as it was is kept in a copy');
      if (store.upgrade.problems > 0) {
        log.error(store.upgrade, 'the database was damaged before it was upgraded; the copy is the evidence');
      }
    }
    sealing.hear((problem) => {
      const told =
        problem && `${problem.charAt(0).toUpperCase()}${problem.slice(1)}. 'larder audit verify' tells more.`;
      health.report('audit', told);
    });
    const reports = blobReports(known, health);
    await reports.damaged();
    const damaged = suspicions({ records: known, blobs: () => blobs, digests: scrubDigests, reports, now, log });
    const blobs: DiskBlobs = await diskBlobs({
      ...{ directory, reserve: config.uploads.reserve },
      ...{ digests, fatal, damaged, now, places: options.limits?.uploads },
    });
    const roomKeeper = (room = keepRoom(blobs, health));
    await blobs.sweepTemporary(() => false);

    const startedWith = config;
    const places = ({ keys }: Config) => ({
      directory,
      credentials: options.credentials,
      masterKeyFile: keys.master_key_file,
      passphraseFile: keys.passphrase_file,
    });
    let masterKey = readMasterKey(places(config));
    let roots = readTrusted(config.assertions.trusted);
    const signer = softwareSigner(
      (keyId) => known.signingKeys.find(keyId),
      () => masterKey,
    );

    const deviceRequestIds = requestIds(store.siteKey);
    const clock = await timeKeeper(known, store.latestTime, now);
    const signing = revisionSigning({ records: known, signer, now, log });
    const queue = reviewQueue({
      records: known,
      blobs,
      reviewer,
      digests,
      now,
      newId,
      log,
      health,
      approved: () => {
        signing.soon();
      },
    });

    health.watch('clock', () => clock.problem());
    watchSettings(
      health,
      () => config,
      () => occupied(directory).diskSizeBytes,
    );
    const unknownProxies = createUnknownProxies(log);
    health.watch('proxy', () => unknownProxies.notice(config.http.trusted_proxies), 'notice');
    health.watch('sealed', () =>
      masterKey === undefined ? 'The store is sealed: without the signing master key it signs nothing.' : undefined,
    );

    const proof = await proofOfRecords({
      database: { file: join(directory, 'larder.db'), native: nativePath() },
      ...{ records: known, siteKey: store.siteKey, sealFile: sealing.file, now },
      startWorker: (worker) => startWorker('src/integrity/database-worker.ts', worker),
    });

    health.watch('records', () => proof.problems()[0]);

    const keeping = keepingOf(directory, store.siteKey, now);
    let tls = speaksTls(config) ? await keepTls(tlsSettings(config), keeping) : undefined;
    /** Says in the log and in the audit log that the server proves itself with another certificate than before. */
    const tellCertificate = async ({ hosts, ends, fingerprint }: ServerTls): Promise<void> => {
      log.info({ hosts, ends }, 'the server has a new certificate');
      const details = { hosts, ends: ends.toISOString(), fingerprint };
      const entry = { at: timestamp(now()), actor: 'larder', action: 'renew_certificate', object: 'certificate' };
      await known.change({ ...entry, details }, () => Promise.resolve());
    };
    if (tls?.renewed === true) await tellCertificate(tls);

    let jobs: Runner | undefined;
    let scrub: Scrub | undefined;
    const sealed = (): boolean => masterKey === undefined;
    const metrics = createMetrics(async (): Promise<StoreState> => {
      const { unclaimed, waiting, approved, rejected, ...counted } = await known.counts.all();
      return {
        ...counted,
        ...occupied(directory),
        uploads: { unclaimed, waiting, approved, rejected },
        scrubbedBytes: scrub?.state().bytes ?? 0,
        sealed: sealed(),
        certificateEnds: tls?.ends,
        jobs: jobs?.state() ?? [],
      };
    }, version);

    const everySection = [...sections, identitySection];
    const documents = createDocuments(everySection, version);
    const { siteKey, latestTime: latest, dischargerKeys } = store;
    const discharger = createDischarger({ keys: dischargerKeys, siteKey, clock: () => latest.now() });
    const identity = createIdentity({ records: known, siteKey, now });

    const registry = createRegistry({
      records: known,
      clock: () => latest.now(),
      newId,
      seal: (secret, purpose) => seal(siteKey, secret, purpose),
      unseal: (sealed, purpose) => unseal(siteKey, sealed, purpose),
      seesUploads: () => config.registry.external === undefined,
      signedTokens: signedTokensOf(store),
      receive: blobs.receive,
      declaredType: async ({ packageId, resource }) => (await known.resources.declared(packageId, resource))?.type,
    });

    const services = (): Services => current;
    const build = (): Services => ({
      records: known,
      acts,
      authority,
      discharger,
      identity,
      registry,
      blobs,
      signer,
      masterKey: () => masterKey,
      roots: () => roots,
      requestIds: deviceRequestIds,
      config,
      now,
      newId,
      log,
      reviewSoon: () => {
        queue.soon();
      },
      signSoon: () => {
        signing.soon();
      },
      health: () => ({
        working: broken === undefined && !proof.isBroken(),
        problems: health.problems(),
        notices: health.notices(),
      }),
      authorityCertificate: () => tls?.authority,
      unknownProxies,
      metrics,
      documents,
      version,
    });
    let current = build();

    const server = createServer({
      operations: everySection.flatMap((section) => section.operations),
      services,
      checkAnswers: options.checkAnswers ?? false,
      connections: { ...connectionLimits(openFilesLimit()), ...options.limits?.connections },
      tls: secureContext(tls),
    });
    const renew = async (): Promise<boolean> => {
      if (!(server instanceof TlsServer) || tls === undefined) return false;
      const before = tls.certificate;
      tls = await keepTls(tlsSettings(config), keeping);
      if (tls.certificate === before) return false;
      server.setSecureContext(secureContext(tls) ?? {});
      await tellCertificate(tls);
      return true;
    };
    const url = await listen(server, options.listen ?? config.http.listen);
    const runner = (jobs = runJobs(
      [
        forgetUploads(known, blobs, now, () => config.uploads.unclaimed_hours),
        forgetImages(known, blobs, now),
        sweepBlobs(known, blobs, now),
        expireBranches(known, acts, now),
        retireKeys(known, store.latestTime),
        forgetInvites(known, store.latestTime),
        forgetSessions(known, store.latestTime),
        signing.job,
        renewCertificate(renew),
        sealAudit(known),
        proof.job,
        clock.job,
        roomKeeper.job,
      ],
      { log, firstAfter: options.jobsAfter ?? seconds(5), isClockInDoubt: store.latestTime.isInDoubt },
    ));
    const scrubbing = (scrub = startScrub({
      records: known,
      blobs,
      digests: scrubDigests,
      ...{ reports, health, now, log },
      rate: () => config.integrity.scrub_rate,
      rest: hours(1),
    }));
    const servingSince = new Date().toISOString();
    const tellState = (): void => {
      const about = { pid: process.pid, url, version, since: servingSince, level: log.level, sealed: sealed() };
      const certificate = tls && { ends: tls.ends, hosts: tls.hosts, fingerprint: tls.fingerprint };
      const { problems, notices } = current.health();
      writeState(directory, {
        ...about,
        certificate,
        problems,
        notices,
        jobs: runner.state(),
        scrub: scrubbing.state(),
      });
    };
    tellState();
    const telling = setInterval(tellState, seconds(10)).unref();
    queue.soon();
    const ballast = setTimeout(() => {
      roomKeeper.job.run().catch((error: unknown) => {
        log.warn({ err: error }, 'cannot set the ballast aside');
      });
    }, seconds(2)).unref();
    log.info({ url, documents: documentsAt(config), directory, version, sealed: masterKey === undefined }, 'serving');

    const opened = store;
    return {
      url,
      log,
      reload() {
        const fresh = readConfig(join(directory, 'larder.toml'));
        const key = readMasterKey(places(fresh));
        const trusted = readTrusted(fresh.assertions.trusted);
        if (speaksTls(fresh)) readCertificates(directory, tlsSettings(fresh));
        config = fresh;
        masterKey = key;
        roots = trusted;
        opened.config = config;
        log.level = config.log.level;
        current = build();
        renew().catch((error: unknown) => {
          log.error({ err: error }, 'cannot take the new certificate; the old one stays');
        });
        log.info('configuration reloaded');
        const waiting = forRestart(startedWith, config, options.listen !== undefined);
        if (waiting.length > 0) log.warn({ keys: waiting }, 'changed, but only a restart makes it count');
      },
      scrubbed: () => scrubbing.state(),
      jobs: () => runner.state(),
      async reviewed() {
        await queue.idle();
        await signing.idle();
      },
      async stop() {
        log.info('stopping');
        clearTimeout(ballast);
        clearInterval(telling);
        removeState(directory);
        identity.interactions.close();
        await close(server);
        await registry.uploads.close();
        await scrubbing.stop();
        await runner.stop();
        const stopping = queue.stop();
        await reviewer.close();
        await stopping;
        await signing.idle();
        await digests.close();
        await scrubDigests.close();
        await clock.keep();
        await known.seal();
        await opened.close();
        lock.close();
        log.info('stopped');
        log.flush();
      },
    };
  } catch (error) {
    await reviewer.close();
    await digests.close();
    await scrubDigests.close();
    await store?.close();
    lock.close();
    throw error;
  }
}

/** What the serving process says of itself, in a file of the data directory. */
export interface ServingState {
  pid: number;
  url: string;
  version: string;
  since: string;
  level: string;
  sealed: boolean;
  certificate: { ends: Date | string; hosts: string[]; fingerprint: string } | undefined;
  problems: string[];
  notices?: string[];
  jobs: JobState[];
  scrub: ScrubState;
}

const damagedRecordWords = (table: string, row: number): string =>
  `Row ${String(row)} of ${table} is not as it was written, and what asked for it was refused; 'larder verify' names ` +
  "all. Stop the server, move the data directory aside, and restore the last backup from before: 'larder restore'.";

/** What the data directory takes of its disk. */
export function occupied(directory: string) {
  const size = (name: string): number => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, blocks, bsize } = statfsSync(directory);
  return {
    databaseBytes: size('larder.db'),
    walBytes: size('larder.db-wal'),
    diskFreeBytes: bavail * bsize,
    diskSizeBytes: blocks * bsize,
  };
}

/** What a command on the host needs to look into a database file by itself. */
export { nativeBinding };

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
    ...(speaksTls(before) === speaksTls(now) ? [] : ['http.base_url']),
    ...(before.uploads.reserve === now.uploads.reserve ? [] : ['uploads.reserve']),
  ];
}

/** The blobs of a data directory as commands on the host have them, beside a serving process or without one. */
export async function withBlobs<Result>(
  { directory, config }: Pick<Store, 'directory' | 'config'>,
  work: (kept: Kept) => Promise<Result>,
): Promise<Result> {
  const digests = digestPool((worker) => startWorker('src/blobs/digest-worker.ts', worker));
  const fatal = (error: Error): never => {
    throw error;
  };
  try {
    const blobs = await diskBlobs({ directory, reserve: config.uploads.reserve, digests, fatal });
    return await work({ blobs, digests, database: join(directory, 'larder.db'), nativeBinding: nativeBinding() });
  } finally {
    await digests.close();
  }
}

export interface Kept {
  blobs: DiskBlobs;
  digests: DigestPool;
  /** The database file, and what it takes to look into it. */
  database: string;
  nativeBinding: object | undefined;
}

/** Tokens for another registry, as a store has them for itself or for a command on the host. */
export const signedTokensOf = ({
  records: known,
  latestTime: latest,
  newId,
  siteKey,
}: Omit<Store, 'close'>): SignedTokens =>
  createSignedTokens({
    records: known,
    clock: () => latest.now(),
    newId,
    seal: (secret, purpose) => seal(siteKey, secret, purpose),
    unseal: (sealed, purpose) => unseal(siteKey, sealed, purpose),
    certify: makeSigningCertificate,
  });

/** How the certificates of a data directory are kept. */
export const keepingOf = (directory: string, siteKey: Buffer, now: Now): Keeping => ({
  directory,
  now,
  seal: (secret, purpose) => seal(siteKey, secret, purpose),
  unseal: (text, purpose) => unseal(siteKey, text, purpose),
  write: (file, content, mode) => {
    prepareFile(file, content, mode).place();
  },
});
