// Starts the work that outlives a request: reviews, signatures, jobs, the scrub.
import type { KeyCustody } from '#assertions/keys/key-custody.ts';
import type { KeyManager } from '#assertions/keys/key-manager.ts';
import { join } from 'node:path';

import { createDeltaMaker, type DeltaMaker } from '#deltas/maker.ts';
import { mendOfRecords } from '#data/records-place.ts';
import { hours, seconds } from '#domain/clock.ts';
import { readSessionRules } from '#domain/tokens/session-rules.ts';
import { configDigest } from '#configuration/config.ts';
import { backupPlaceOf } from '#data/blobs-place.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { inspectDatabase, type DatabasePlace } from '#engine/place.ts';
import type { DatabaseVerdict } from '#engine/sqlite/check.ts';
import { inspectOpenFile } from '#integrity/inspect-in-thread.ts';
import { createRecordsVerifier, type RecordsVerifier } from '#integrity/verify-records.ts';
import { startScrub, type Scrub } from '#integrity/scrub.ts';
import { confirmCertificateLogins } from '#jobs/accounts/confirm-certificate-logins.ts';
import { confirmOpenidLogins } from '#jobs/accounts/confirm-openid-logins.ts';
import { expireBranches } from '#jobs/releases/expire-branches.ts';
import { raiseRollouts } from '#jobs/releases/raise-rollouts.ts';
import { expireRevisions } from '#jobs/revisions/expire-revisions.ts';
import { createApprovalPolicyKeeper, type ApprovalPolicyKeeper } from '#jobs/approvals/keep-approval-policy.ts';
import { createCatalogKeeper, type CatalogKeeper } from '#jobs/packages/keep-catalog.ts';
import { createPushFinisher, type PushFinisher } from '#jobs/uploads/finish-pushes.ts';
import { makeDeltas } from '#jobs/devices/make-deltas.ts';
import { forgetImages } from '#jobs/images/forget-images.ts';
import { forgetInvites } from '#jobs/packages/forget-invites.ts';
import { forgetPullCredentials } from '#jobs/images/forget-pull-credentials.ts';
import { sweepEphemeralRows } from '#jobs/store/sweep-ephemeral-rows.ts';
import { forgetProposals } from '#jobs/approvals/forget-proposals.ts';
import { expireSessions } from '#jobs/tokens/expire-sessions.ts';
import { forgetSessions } from '#jobs/tokens/forget-sessions.ts';
import { forgetUploads } from '#jobs/uploads/forget-uploads.ts';
import { matchVulnerabilities, type MatchOutput } from '#jobs/vulnerabilities/match-vulnerabilities.ts';
import { readBills } from '#jobs/vulnerabilities/read-bills.ts';
import { recordFindingsOfPackages } from '#jobs/vulnerabilities/record-findings.ts';
import { readCharms } from '#jobs/revisions/read-charms.ts';
import { renewCertificate } from '#jobs/store/renew-certificate.ts';
import { retireKeys } from '#jobs/tokens/retire-keys.ts';
import { reviewQueue, type ReviewQueue } from '#jobs/uploads/review-uploads.ts';
import { runJobs, type BackgroundJob, type Runner } from '#jobs/runner.ts';
import { noteAuditEnd, sealAudit } from '#jobs/audit/seal-audit.ts';
import { createRevisionSigner, type RevisionSigner } from '#jobs/revisions/sign-revisions.ts';
import { addIncrements, type IncrementOutput } from '#jobs/store/add-increments.ts';
import { sweepBlobs } from '#jobs/store/sweep-blobs.ts';
import { sweepTemporary } from '#jobs/store/sweep-temporary.ts';
import type { OwnLeases } from '#shared/leases.ts';
import { chooseProcess } from '#shared/chosen-process.ts';
import { createReviewer } from '#review/reviewer.ts';
import { startWorker, type StartWorker } from '#platform/embedded.ts';
import { nativeBinding, nativePath } from '#platform/native.ts';
import type { Certificate } from './certificate.ts';
import { buildCertificateLogins, type CertificateLoginParts } from './certificate-logins.ts';
import { buildOpenid, type OpenidParts } from './openid.ts';
import { runCommandThread } from './commands/command-thread.ts';
import type { ApplianceOptions } from './options.ts';
import type { ApplianceParts } from './parts.ts';
import type { Current } from './settings.ts';
import type { Storage } from './storage.ts';
import { custodyOf } from './watch/key-custody.ts';
import { watchFolderJob } from './watch/transfer-folder.ts';

export interface Background {
  custody: KeyCustody;
  keyManager: KeyManager;
  signing: RevisionSigner;
  queue: ReviewQueue;
  finishing: PushFinisher;
  catalog: CatalogKeeper;
  proof: RecordsVerifier;
  policy: ApprovalPolicyKeeper;
  openid: OpenidParts;
  certificateLogins: CertificateLoginParts;
  runner: Runner;
  scrub: Scrub;
}

export async function startBackground(
  parts: ApplianceParts,
  options: ApplianceOptions,
  storage: Storage,
  current: Current,
  { certificate, keyManager }: { certificate: Certificate; keyManager: KeyManager },
): Promise<Background> {
  const { store, log, health, leases } = storage;
  const { records, acts, now } = store;
  const custody = custodyOf(storage, keyManager, current);
  const signing = await parts.start(
    'signing',
    () => createRevisionSigner({ records, acts, signer: custody, now, log }),
    (signing) => signing.idle(),
  );
  const reviewSoon = (): void => {
    queue.soon();
  };
  const finishing = await startFinishing(parts, storage, current, reviewSoon);
  const catalog = await startCatalog(parts, storage);
  const { queue, reading } = await startReviews(parts, storage, () => {
    signing.soon();
    finishing.soon();
  });
  const proof = await startProof(storage);
  health.watch('damaged-records', () => proof.faults());
  const maker = createDeltaMaker({ startWorker: (worker) => startWorker('src/deltas/worker.ts', worker) });
  const policy = createApprovalPolicyKeeper({ records, acts, config: () => current().config, health });
  const logins = { openid: buildOpenid(storage, current), certificateLogins: buildCertificateLogins(storage, current) };
  const watching = new AbortController();
  const all = jobsOf(storage, current, certificate, [
    ...[policy, signing, finishing, catalog, proof].map(({ job }) => job),
    ...[...reading, deltasJob(storage, current, maker), rolloutsJob(storage, current, options)],
    recordFindingsOfPackages({ records, acts, now, remember: () => current().config.devices.remember }),
    folderJob(storage, current, options, watching.signal),
    matchingJob(storage, options, watching.signal),
    incrementsJob(storage, current, options, watching.signal),
    sweepTemporary(records, storage.blobs, now),
    confirmOpenidLogins({ ...store, renew: logins.openid.confirmations.renew }),
    confirmCertificateLogins({ ...store, check: logins.certificateLogins.check }),
  ]);
  const jobs = keepsAll(options) ? all : all.filter((job) => job.oncePer === 'process' && !ofKeeper.has(job.name));
  const { isInDoubt: isClockInDoubt } = store.latestTime;
  const runnerOptions = { log, firstAfter: options.jobsAfter ?? seconds(5), isClockInDoubt, leases };
  const runner = await parts.start(
    'jobs',
    () => runJobs(jobs, runnerOptions),
    (runner) => runner.stop(),
  );
  // Close the maker before the jobs stop: a delta of a large file is made again another time.
  await parts.start(
    'deltas',
    () => maker,
    (maker) => maker.close(),
  );
  await endsWith(parts, watching);
  const scrub = keepsAll(options) ? await startScrubbing(parts, options, storage, current) : scrubbedElsewhere;
  await startLeases(parts, leases);
  return { custody, keyManager, signing, queue, finishing, catalog, proof, policy, ...logins, runner, scrub };
}

const folderJob = (
  { health, store }: Storage,
  current: Current,
  { limits }: ApplianceOptions,
  signal: AbortSignal,
): BackgroundJob =>
  watchFolderJob({ health, directory: store.directory, intervalMs: limits?.watchMs }, current, signal);

/** Whether this process does the work that only one process of the store does. */
const keepsAll = ({ team }: ApplianceOptions): boolean => team?.keeps !== false;

/** Jobs that independent processes each run for themselves, and only one of several workers runs. */
const ofKeeper: ReadonlySet<string> = new Set(['prove-records', 'keep-approval-policy', 'renew-certificate']);

const matchingJob = (
  { store: { records, directory, now } }: Storage,
  { limits }: ApplianceOptions,
  signal: AbortSignal,
): BackgroundJob =>
  matchVulnerabilities({
    records,
    now,
    signal,
    intervalMs: limits?.watchMs,
    match: () => runCommandThread<MatchOutput>({ name: 'match', argv: ['feed', 'match'], directory, signal }),
  });

const incrementsJob = (
  { store: { records, directory, now } }: Storage,
  current: Current,
  { elapsed = () => performance.now() }: ApplianceOptions,
  signal: AbortSignal,
): BackgroundJob =>
  addIncrements({
    records,
    settings: () => {
      const { config } = current();
      return { place: backupPlaceOf(config), every: config.backup.every };
    },
    configuration: () => configDigest(join(directory, 'larder.toml')),
    now,
    elapsed,
    add: (place, thins) =>
      runCommandThread<IncrementOutput>({
        name: 'backup',
        argv: ['backup', place, '--increment', ...(thins ? ['--thin'] : [])],
        directory,
        signal,
      }).catch((error: unknown) => {
        if (signal.aborted) return undefined;
        throw error;
      }),
  });

/** Ends the receipt of transfers from the watched folder, and the matching; they continue after the next start. */
const endsWith = (parts: ApplianceParts, watching: AbortController): Promise<AbortController> =>
  parts.start(
    'watching',
    () => watching,
    (started) => {
      started.abort();
    },
  );

/** Starts a part that prevents new work under leases when it stops. Running work ends part by part; then all leases are released. */
const startLeases = (parts: ApplianceParts, leases: OwnLeases): Promise<OwnLeases> =>
  parts.start(
    'held',
    () => leases,
    (own) => {
      own.end();
    },
  );

const deltasJob = (
  { store: { records, newId, now }, blobs, log }: Storage,
  current: Current,
  maker: DeltaMaker,
): BackgroundJob => {
  const settings = () => {
    const { snap, deltas, max_deltas_size: maxBytes, remember } = current().config.devices;
    return { deltas: snap && deltas, maxBytes, remember };
  };
  return makeDeltas({ records, blobs, maker, newId, now, log, settings });
};

const rolloutsJob = (
  { store: { records, acts, now, latestTime }, log }: Storage,
  current: Current,
  { elapsed = () => performance.now() }: ApplianceOptions,
): BackgroundJob => {
  const remembersDevices = (): boolean => {
    const { snap, remember } = current().config.devices;
    return snap && remember;
  };
  return raiseRollouts({ records, acts, now, elapsed, isClockInDoubt: latestTime.isInDoubt, remembersDevices, log });
};

const scrubbedElsewhere: Scrub = {
  state: () => ({ blobs: 0, bytes: 0, damaged: 0, roundEnded: undefined }),
  stop: () => Promise.resolve(),
};

async function startScrubbing(
  parts: ApplianceParts,
  { limits }: Pick<ApplianceOptions, 'limits'>,
  storage: Storage,
  current: Current,
): Promise<Scrub> {
  const { store, log, health, leases, blobs, scrubDigests, reports } = storage;
  const { records, acts, now } = store;
  // Several hosts have the same blobs, and each of them would read all.
  const turn =
    records.server &&
    (await parts.start(
      'turn of the scrub',
      () => chooseProcess(leases, 'scrub'),
      (started) => started.end(),
    ));
  return parts.start(
    'scrub',
    () => {
      const rate = (): number => (turn?.isThis() === false ? 0 : current().config.integrity.scrub_rate);
      const scrubParts = { records, acts, blobs, digests: scrubDigests };
      return startScrub({ ...scrubParts, reports, health, now, log, rate, rest: hours(1), ...limits?.scrub });
    },
    (scrub) => scrub.stop(),
  );
}

const startProof = ({ store }: Storage): Promise<RecordsVerifier> =>
  createRecordsVerifier({
    inspect: () => inspectRecords(store.database.place),
    mend: mendOfRecords(store.database.place, store.directory),
    records: store.records,
    acts: store.acts,
    siteKey: store.siteKey,
    sealFile: store.sealing.file,
    now: store.now,
  });

/** A database server checks itself while it answers queries; a large file needs a thread for that. */
const inspectRecords = (place: DatabasePlace): Promise<DatabaseVerdict> =>
  'file' in place
    ? inspectOpenFile(
        (worker) => startWorker('src/integrity/database-worker.ts', worker),
        { file: place.file, native: nativePath() },
        { nativeBinding: nativeBinding() },
      )
    : inspectDatabase(place, {});

const startFinishing = (
  parts: ApplianceParts,
  { store: { records, acts }, log }: Storage,
  current: Current,
  reviewSoon: () => void,
): Promise<PushFinisher> =>
  parts.start(
    'pushes',
    () =>
      createPushFinisher({ records, acts, log, reviewSoon, quota: () => readDefaultQuota(current().config.quotas) }),
    (finishing) => finishing.idle(),
  );

const startCatalog = (parts: ApplianceParts, { store: { records, now }, log }: Storage): Promise<CatalogKeeper> =>
  parts.start(
    'catalog',
    () => createCatalogKeeper({ records, now, log }),
    (catalog) => catalog.idle(),
  );

async function startReviews(
  parts: ApplianceParts,
  storage: Storage,
  reviewed: () => void,
): Promise<{ queue: ReviewQueue; reading: BackgroundJob[] }> {
  const { store, log, health, leases, blobs, digests } = storage;
  const { records, acts, newId } = store;
  const { queue, reviewer, slowReviewer } = await parts.start(
    'reviews',
    () => {
      const startReviewWorker: StartWorker = (worker) => startWorker('src/review/worker.ts', worker);
      const reviewer = createReviewer({ startWorker: startReviewWorker });
      return {
        reviewer,
        // No publisher waits for this reviewer.
        slowReviewer: createReviewer({ startWorker: startReviewWorker }),
        queue: reviewQueue({ records, acts, blobs, reviewer, digests, leases, newId, log, health, reviewed }),
      };
    },
    async ({ queue, reviewer, slowReviewer }) => {
      // A running review ends with its worker, and its upload waits for the next start.
      const stopping = queue.stop();
      await Promise.all([reviewer.close(), slowReviewer.close()]);
      await stopping;
    },
  );
  return {
    queue,
    reading: [
      readCharms({ records, acts, blobs, reviewer, digests, log }),
      readBills({ records, acts, blobs, reviewer: slowReviewer, log }),
    ],
  };
}

const jobsOf = (
  { store, blobs, clock, room }: Storage,
  current: Current,
  certificate: Certificate,
  more: Parameters<typeof runJobs>[0],
): Parameters<typeof runJobs>[0] => {
  const { records, acts, now, latestTime } = store;
  return [
    forgetUploads(records, blobs, now, () => current().config.uploads.unclaimed_hours),
    forgetImages(records, acts, blobs, now),
    sweepBlobs(records, blobs, now),
    expireBranches(records, acts, now),
    expireRevisions(records, acts, now, () => current().config.revisions),
    retireKeys(records, acts, latestTime),
    forgetInvites(records, acts, latestTime),
    forgetPullCredentials(records, acts, latestTime),
    sweepEphemeralRows(records, now),
    forgetProposals(records, acts, latestTime),
    forgetSessions(records, acts, latestTime),
    expireSessions(records, acts, latestTime, () => readSessionRules(current().config.sessions)),
    renewCertificate(certificate.renew),
    sealAudit(records),
    noteAuditEnd(records),
    ...more,
    clock.job,
    room.job(blobs),
  ];
};
