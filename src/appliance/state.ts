// The state of the serving process: written to a file of the data directory for commands on the host, and used for
// metrics.
import type { ProcessState, StoreState } from '#http/metrics/metrics.ts';
import { tokensEnding } from '#macaroons/token-uses.ts';
import { measureDiskUse } from '#data/blobs.ts';
import type { ConfigurationState, ServingState } from '#data/serving-state.ts';
import { removeState, writeState } from '#data/state-file.ts';
import { countStoreFindings } from '#acts/vulnerabilities/count-findings.ts';
import { seconds, timestamp } from '#domain/clock.ts';
import { isEngineUnavailable } from '#domain/refusal.ts';
import { certificateEnds } from '#examinations/certificate.ts';
import { lastBackups } from '#examinations/records.ts';
import { textOf, type Fault, type Severity } from '#platform/faults.ts';
import { version } from '#platform/version.ts';
import type { ServerTls } from '#tls/settings.ts';
import { pendingWork } from '#transfers/pending.ts';
import type { Background } from './background.ts';
import type { Certificate } from './certificate.ts';
import type { ApplianceOptions } from './options.ts';
import type { ApplianceParts } from './parts.ts';
import type { Current } from './settings.ts';
import type { Storage } from './storage.ts';

/** How often the file is written. */
const interval = seconds(10);

/**
 * Writes the state now, when the returned function is called, and every ten seconds until it is stopped; does nothing
 * if another process writes it for this one.
 */
export async function startStateReports(
  parts: ApplianceParts,
  { directory, alongside, team }: ApplianceOptions,
  { telling, secret }: { telling: () => Promise<ServingState>; secret: string },
): Promise<() => Promise<void>> {
  if (alongside === true || team !== undefined) return () => Promise.resolve();
  let isOver = false;
  const tell = async (): Promise<void> => {
    const state = await telling();
    if (!isOver) writeState(directory, { ...state, secret });
  };
  await parts.start(
    'state',
    async () => {
      await tell();
      return setInterval(() => void tell(), interval).unref();
    },
    (timer) => {
      isOver = true;
      clearInterval(timer);
      removeState(directory);
    },
  );
  return tell;
}

/** Returns a function that collects the state of the serving process. */
export function servingStateOf(
  { storage, background, certificate, current }: StateSources,
  { url, configuration }: { url: () => string; configuration: () => ConfigurationState },
): () => Promise<ServingState> {
  const since = new Date().toISOString();
  const { log, health } = storage;
  return async () => {
    const tls = certificate.current();
    const faults = await health.look();
    return {
      pid: process.pid,
      url: url(),
      version,
      since,
      level: log.level,
      sealed: current().masterKey === undefined,
      certificate: tls && { ends: tls.ends, hosts: tls.hosts, fingerprint: tls.fingerprint },
      problems: textsOf(faults, 'problem'),
      notices: textsOf(faults, 'notice'),
      faults,
      jobs: background.runner.state(),
      scrub: background.scrub.state(),
      configuration: configuration(),
      working:
        !storage.isBroken() && storage.lock.isFree() && storage.engines.areWell() && !background.proof.isBroken(),
    };
  };
}

const textsOf = (faults: readonly Fault[], severity: Severity): string[] =>
  faults.filter((fault) => fault.severity === severity).map(textOf);

interface StateSources {
  storage: Storage;
  background: Background;
  certificate: Certificate;
  current: Current;
}

async function keptDeltas({
  deltas,
}: Pick<Storage['store']['records'], 'deltas'>): Promise<{ kept: number; bytes: number }> {
  const { count, bytes } = await deltas.kept();
  return { kept: count, bytes };
}

/** The part of the metrics that is about this process. */
export const processState = ({ background, storage }: Pick<StateSources, 'background' | 'storage'>): ProcessState => ({
  pool: storage.store.database.server?.pool(),
  scrubbedBytes: background.scrub.state().bytes,
  jobs: background.runner.state(),
  s3: 'traffic' in storage.blobs ? storage.blobs.traffic() : undefined,
});

/** The part of the metrics that is about the store; if the records are unavailable, only the faults. */
export async function countState(
  made: Omit<StateSources, 'background'>,
  faults: readonly Fault[],
): Promise<StoreState | Pick<StoreState, 'faults'>> {
  try {
    return await countAll(made, faults);
  } catch (error) {
    if (isEngineUnavailable(error)) return { faults };
    throw error;
  }
}

async function countAll(
  { storage, certificate, current }: Omit<StateSources, 'background'>,
  faults: readonly Fault[],
): Promise<StoreState> {
  const { records, now } = storage.store;
  const tls = certificate.current();
  const at = timestamp(now());
  const { unclaimed, waiting, approved, rejected, ...counted } = await records.counts.all();
  return {
    ...counted,
    ...(await measureDiskUse(storage.store)),
    deltas: { ...(await records.deltas.counted()), ...(await keptDeltas(records)) },
    uploads: { unclaimed, waiting, approved, rejected },
    tokensEnding: await tokensEnding(records, storage.store.latestTime),
    sealed: current().masterKey === undefined,
    certificateEnds: tls?.ends,
    authorityEnds: tls && firstEnd(tls),
    faults,
    pending: await pendingWork(records, now()),
    lastBackup: (await lastBackups(records)).last?.at,
    lastTransfer: (await records.transfers.lastSettled()) ?? undefined,
    ...(await countStoreFindings(records, at)),
    feeds: await records.vulnerabilityFeeds.list(),
  };
}

/** When the first of the authorities above the server's certificate expires. */
const firstEnd = (tls: ServerTls): Date | undefined =>
  certificateEnds(tls)
    .certificates.filter(({ isAuthority }) => isAuthority)
    .map(({ ends }) => ends)
    .sort((date, other) => date.getTime() - other.getTime())[0];
