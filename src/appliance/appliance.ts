// The appliance: builds every part by hand, in order, and starts and stops them.
import { Server as TlsServer } from 'node:https';
import { join } from 'node:path';

import type { Logger } from 'pino';

import { connectionLimits, type ConnectionLimits } from '#api/connections.ts';
import { createDocuments } from '#api/documents/documents.ts';
import { createMetrics, type StoreState } from '#api/metrics.ts';
import { createServer } from '#api/server.ts';
import type { Services } from '#api/services.ts';
import { createUnknownProxies } from '#api/unknown-proxies.ts';
import { requestIds } from '#assertions/request-ids.ts';
import { softwareSigner } from '#assertions/signer.ts';
import { readTrusted } from '#assertions/trusted.ts';
import { releaseBallast } from '#blobs/ballast.ts';
import { digestPool } from '#blobs/digests.ts';
import { diskBlobs, type DiskBlobs } from '#blobs/disk.ts';
import type { PlaceOptions } from '#blobs/places.ts';
import { occupied } from '#data/blobs.ts';
import { lockDirectory } from '#data/lock.ts';
import { readMasterKey } from '#data/secrets.ts';
import { removeState, writeState } from '#data/state-file.ts';
import { keepingOf, openStore, signedTokensOf, type Store, type StoreOptions } from '#data/store.ts';
import { hours, seconds, timestamp } from '#domain/clock.ts';
import { createIdentity } from '#identity/identity.ts';
import { identitySection } from '#identity/operations.ts';
import { blobReports } from '#integrity/blob-reports.ts';
import { proofOfRecords } from '#integrity/prove-records.ts';
import { startScrub, suspicions, type Scrub, type ScrubState } from '#integrity/scrub.ts';
import { expireBranches } from '#jobs/expire-branches.ts';
import { forgetImages } from '#jobs/forget-images.ts';
import { forgetInvites } from '#jobs/forget-invites.ts';
import { forgetSessions } from '#jobs/forget-sessions.ts';
import { forgetUploads } from '#jobs/forget-uploads.ts';
import { keepRoom, type RoomKeeper } from '#jobs/keep-room.ts';
import { timeKeeper } from '#jobs/remember-time.ts';
import { renewCertificate } from '#jobs/renew-certificate.ts';
import { retireKeys } from '#jobs/retire-keys.ts';
import { reviewQueue } from '#jobs/review-uploads.ts';
import { runJobs, type JobState, type Runner } from '#jobs/runner.ts';
import { sealAudit } from '#jobs/seal-audit.ts';
import { revisionSigning } from '#jobs/sign-revisions.ts';
import { sweepBlobs } from '#jobs/sweep-blobs.ts';
import { createDischarger } from '#macaroons/discharger.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import { keepKeyCheck } from '#macaroons/site-key.ts';
import { documentsAt } from '#operations/appliance/documents.ts';
import { sections } from '#operations/index.ts';
import { createRegistry } from '#registry/registry.ts';
import { createReviewer } from '#review/reviewer.ts';
import { readConfig, type Config } from '#src/config.ts';
import { startWorker } from '#src/embedded.ts';
import { createHealth } from '#src/health.ts';
import { createLog, isForPeople, type LogFormat } from '#src/log.ts';
import { nativePath } from '#src/native.ts';
import { version } from '#src/version.ts';
import { keepTls, readCertificates, type ServerTls } from '#tls/keeper.ts';
import { secureContext, speaksTls, tlsSettings } from '#tls/settings.ts';
import { openFilesLimit } from './descriptors.ts';
import { close, listen } from './listening.ts';
import { watchSettings } from './watched-settings.ts';

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

const damagedRecordWords = (table: string, row: number): string =>
  `Row ${String(row)} of ${table} is not as it was written, and what asked for it was refused; 'larder verify' names ` +
  "all. Stop the server, move the data directory aside, and restore the last backup from before: 'larder restore'.";

/** The keys that differ and are read only at the start. */
function forRestart(before: Config, now: Config, listensElsewhere: boolean): string[] {
  return [
    ...(before.http.listen === now.http.listen || listensElsewhere ? [] : ['http.listen']),
    ...(speaksTls(before) === speaksTls(now) ? [] : ['http.base_url']),
    ...(before.uploads.reserve === now.uploads.reserve ? [] : ['uploads.reserve']),
  ];
}
