// Answers requests: builds the services of the handlers, the server, and its listener.
import { deriveKey } from '#domain/cryptography.ts';
import type { Server } from 'node:http';
import { join } from 'node:path';

import { cohortKeys } from '#assertions/devices/cohort-keys.ts';
import { deviceNonces, requestIds } from '#assertions/devices/request-ids.ts';
import { connectionLimits, type ConnectionLimits } from '#http/connection-limits.ts';
import { createDocuments } from '#documents/documents.ts';
import { createLastHour, type Minute } from '#http/metrics/last-hour.ts';
import { createMetrics, type MetricCounts, type Metrics } from '#http/metrics/metrics.ts';
import { isSameSecret } from '#access/same-secret.ts';
import { createServer, isTlsServer } from '#http/server.ts';
import type { BackupDesk } from '#http/backup-desk.ts';
import type { FeedDesk } from '#http/feed-desk.ts';
import type { ServerServices } from '#http/services.ts';
import type { TransferCommands, TransferDesk } from '#http/transfer-desk.ts';
import { createUnknownProxies } from '#http/request/unknown-proxies.ts';
import { requiresAcknowledgement } from '#http/pages/login-notices.ts';
import { diskSpace } from '#data/blobs.ts';
import { backupPlaceOf } from '#data/blobs-place.ts';
import { mergeServingStates, type ServingState } from '#data/serving-state.ts';
import { signedTokensOf } from '#data/store.ts';
import { createDownloadLimiter, type DownloadLimiter } from '#blobs/download-limiter.ts';
import { seconds } from '#domain/clock.ts';
import { createRateLimiter } from '#domain/rate-limit.ts';
import { consoleSection } from '#console/index.ts';
import { createIdentity } from '#identity/identity.ts';
import { identitySection } from '#identity/operations.ts';
import { createDeviceSessions } from '#macaroons/device-sessions.ts';
import { createDischarger } from '#macaroons/discharger.ts';
import { seal, unseal } from '#macaroons/sealing.ts';
import { sections } from '#operations/index.ts';
import { createRegistry, type Registry } from '#registry/registry.ts';
import { createChangeFeed } from '#shared/change-feed.ts';
import type { Fault } from '#platform/faults.ts';
import { version } from '#platform/version.ts';
import { transferDesk } from '#transfers/accept/desk.ts';
import { secureContext } from '#tls/settings.ts';
import { followAdministrator } from './administrator.ts';
import type { Background } from './background.ts';
import type { Certificate } from './certificate.ts';
import { startCertificateServer } from './certificate-logins.ts';
import { openFilesLimit } from './descriptors.ts';
import { followConnections } from './draining.ts';
import { createConsoleExamination } from './console-examination.ts';
import { close, listen } from './listening.ts';
import type { ApplianceOptions } from './options.ts';
import type { ApplianceParts } from './parts.ts';
import type { Current } from './settings.ts';
import { countState, processState } from './state.ts';
import { createBackupCommands, type BackupCommands } from './commands/backup-commands.ts';
import { createFeedCommands } from './commands/feed-commands.ts';
import { createPageCommands } from './commands/page-commands.ts';
import { createTransferCommands } from './commands/transfer-commands.ts';
import type { Storage } from './storage.ts';
import { shareOf, type Team } from './team.ts';

/** The parts that handlers use. */
interface HandlerParts {
  storage: Storage;
  background: Background;
  certificate: Certificate;
  current: Current;
  /** The state of this process. */
  serving: () => Promise<ServingState>;
  /** The secret that a command on the host sends to get the state of all processes. */
  secret: string;
}

const everySection = [...sections, identitySection, consoleSection];

/** The actual address, and the metrics. */
export interface ListeningServer {
  url: string;
  figures: () => Promise<MetricCounts>;
  minutes: () => Minute[];
}

/** Starts answering. */
export async function startServing(
  parts: ApplianceParts,
  options: ApplianceOptions,
  made: HandlerParts,
): Promise<ListeningServer> {
  const registry = await parts.start(
    'registry',
    () => registryOf(made),
    (registry) => registry.uploads.close(),
  );
  const { certificate, current } = made;
  const downloads = await parts.start(
    'downloads',
    () => downloadsOf(made, options),
    (downloads) => {
      downloads.close();
    },
  );
  const metrics = metricsOf(made, options.team, async () => (await services().health()).faults);
  const pageCommands = createPageCommands(made.storage.store);
  const commands = createTransferCommands(pageCommands, made.storage.store);
  const feeds = createFeedCommands(pageCommands);
  const { close: endBackups, ...backups } = backupsOf(made);
  const services = servicesOf(made, options, { registry, downloads, metrics, commands, feeds, backups });
  const { url } = await parts.start(
    'server',
    async () => {
      const { server, settled } = createServer({
        operations: everySection.flatMap((section) => section.operations),
        services,
        checkAnswers: options.checkAnswers ?? false,
        connections: connectionsOf(options),
        tls: secureContext(certificate.current()),
      });
      followCertificate(server, certificate);
      const drain = followConnections(server);
      const url = await listen(server, options.listen ?? current().config.http.listen);
      return { settled, drain, url };
    },
    ({ settled, drain }) => {
      const { drain_minutes: drainMinutes } = current().config.http;
      return close({ settled }, () =>
        drain({ minutes: drainMinutes, elapsed: options.elapsed ?? (() => performance.now()) }),
      );
    },
  );
  const { certificateLogins } = made.background;
  const connections = connectionsOf(options);
  await startCertificateServer(parts, { certificateLogins, certificate, current, services, connections });
  await endWaiting(parts, services, () => Promise.all([pageCommands.close(), endBackups()]));
  return { url, figures: metrics.figures, minutes: () => services().lastHour.own() };
}

/** Requests that wait for a login, for changes or for a command would keep the server from closing. */
async function endWaiting(
  parts: ApplianceParts,
  services: () => ServerServices,
  endCommands: () => Promise<unknown>,
): Promise<void> {
  await parts.start(
    'change feed',
    () => services().changeFeed,
    (feed) => {
      feed.close();
    },
  );
  await parts.start(
    'logins',
    () => services().identity.interactions,
    (interactions) => interactions.close(),
  );
  await parts.start('commands of pages', () => endCommands, endCommands);
}

/**
 * The limits on connections. A client's connections spread over all processes of the store, so each process gives a
 * client a share of the limit.
 */
function connectionsOf({ limits, team }: ApplianceOptions): ConnectionLimits {
  const { ofClient, ...others } = { ...connectionLimits(openFilesLimit()), ...limits?.connections };
  return { ...others, ofClient: shareOf(ofClient, team) };
}

function followCertificate(server: Server, certificate: Certificate): void {
  if (!isTlsServer(server)) return;
  certificate.onRenewal((tls) => {
    server.setSecureContext(secureContext(tls) ?? {});
  });
}

function downloadsOf(
  { storage, current }: HandlerParts,
  { elapsed = () => performance.now() }: ApplianceOptions,
): DownloadLimiter {
  const { shares, store } = storage;
  return createDownloadLimiter({
    limits: () => current().config.devices,
    shares: shares.ofStore,
    now: store.now,
    elapsed,
  });
}

function registryOf({ storage: { store, blobs }, current }: HandlerParts): Registry {
  const { records, acts, siteKey, latestTime, newId } = store;
  return createRegistry({
    records,
    acts,
    clock: () => latestTime.now(),
    newId,
    seal: (secret, purpose) => seal(siteKey, secret, purpose),
    unseal: (sealed, purpose) => unseal(siteKey, sealed, purpose),
    seesUploads: () => current().config.registry.external === undefined,
    tokenKey: deriveKey(siteKey, 'tokens of the image registry'),
    signedTokens: signedTokensOf(store),
    receive: blobs.receive,
    free: blobs.free,
    declaredType: async ({ packageId, resource }) => (await records.resources.declared(packageId, resource))?.type,
  });
}

const deskOf = (
  { storage: { store, blobs }, background: { keyManager: manager }, current }: HandlerParts,
  commands: TransferCommands,
): TransferDesk => ({
  ...transferDesk({ ...store, manager, blobs, config: () => current().config, roots: () => current().roots }),
  ...commands,
});

const backupsOf = ({ storage: { store, leases, log }, current }: HandlerParts): BackupCommands =>
  createBackupCommands({ ...store, leases, log, place: () => backupPlaceOf(current().config) });

/** The state of the store, as handlers see it. */
const stateOf = (
  { storage, current, serving, secret }: HandlerParts,
  { credentials, team }: ApplianceOptions,
): Pick<ServerServices, 'health' | 'serving' | 'examined' | 'disk' | 'lastHour'> => {
  /** The state of this process, or of all processes of the store together; a process that hangs is not waited for. */
  const readServingState = async (maxWaitMs: number): Promise<ServingState> => {
    const own = await serving();
    if (team === undefined) return own;
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), maxWaitMs);
    const others = await Promise.race([team.ask('state', own), late.promise]);
    clearTimeout(timer);
    const last = team.others();
    return mergeServingStates([own, ...(others ?? (last === undefined ? [] : [last]))]);
  };
  const readServingStateSoon = (): Promise<ServingState> => readServingState(seconds(1));
  return {
    serving: async (shown) => (isSameSecret(shown, secret) ? { ...(await readServingState(seconds(3))) } : undefined),
    health: async () => {
      const { working = true, problems, notices = [], faults = [], workers } = await readServingStateSoon();
      return { working, problems, notices, faults, workers };
    },
    examined: createConsoleExamination({
      store: storage.store,
      credentials,
      config: () => current().config,
      serving: readServingStateSoon,
    }),
    disk: () => diskSpace(storage.store.directory),
    lastHour: createLastHour(storage.store.now, team && ((own) => team.ask('minutes', own))),
  };
};

const metricsOf = (made: HandlerParts, team: Team | undefined, faults: () => Promise<readonly Fault[]>): Metrics =>
  createMetrics({
    store: async () => countState(made, await faults()),
    process: () => processState(made),
    version,
    ...(team && {
      team: {
        others: (own) => team.ask('figures', own),
        workers: () => team.others()?.workers ?? { wanted: team.size, serving: 1, ended: team.ended },
      },
    }),
  });

function identityOf({ storage, background, current }: HandlerParts): ServerServices['identity'] {
  const { records, acts, siteKey, now } = storage.store;
  const baseUrl = () => current().config.http.base_url;
  const requiresTotp = () => current().config.identity.require_totp;
  return {
    ...createIdentity({
      records,
      acts,
      siteKey,
      now,
      requiresTotp,
      certificateRoles: () => current().config.identity.certificates.require_certificate,
      requiresAcknowledgement: () => requiresAcknowledgement(current().config.sessions),
      proofMinutes: () => current().config.sessions.reauthenticate_minutes,
      host: () => new URL(baseUrl()).host,
    }),
    openid: background.openid.logins,
    certificates: background.certificateLogins.logins,
  };
}

interface StartedServices {
  registry: Registry;
  downloads: DownloadLimiter;
  metrics: Metrics;
  commands: TransferCommands;
  feeds: FeedDesk;
  backups: BackupDesk;
}

/** The services of a handler; one request uses one configuration from beginning to end. */
function servicesOf(
  made: HandlerParts,
  options: ApplianceOptions,
  { commands, ...own }: StartedServices,
): () => ServerServices {
  const { storage, background, certificate, current } = made;
  const { store, log, health, blobs } = storage;
  const { records, acts, authority, dischargerKeys, latestTime, siteKey, now, newId } = store;
  const unknownProxies = createUnknownProxies();
  health.watch('unknown-proxy', () => unknownProxies.unknown(current().config.http.trusted_proxies));
  const unchanging: Omit<ServerServices, 'config'> = {
    records,
    acts,
    authority,
    ...own,
    blobs,
    custody: background.custody,
    now,
    newId,
    log,
    unknownProxies,
    changeFeed: createChangeFeed(records),
    discharger: createDischarger({ keys: dischargerKeys, siteKey, clock: () => latestTime.now() }),
    identity: identityOf(made),
    roots: () => current().roots,
    transfers: deskOf(made, commands),
    requestIds: requestIds(siteKey),
    deviceNonces: deviceNonces(siteKey),
    cohortKeys: cohortKeys(siteKey),
    proofRates: createRateLimiter(now),
    deviceSessions: createDeviceSessions(siteKey, () => latestTime.now()),
    reviewSoon: () => {
      background.queue.soon();
      background.finishing.soon();
    },
    catalogUpToDate: () => background.catalog.upToDate(),
    signSoon: () => {
      background.signing.soon();
    },
    ...stateOf(made, options),
    authorityCertificate: () => certificate.current()?.authority,
    certificateEnd: () => certificate.current()?.ends,
    documents: createDocuments(everySection, version),
    version,
    startedWith: current().config,
    administrator: followAdministrator(join(store.directory, 'larder.toml'), () => current().config.auth),
  };
  let services: ServerServices = { ...unchanging, config: current().config };
  return () => {
    const { config } = current();
    if (services.config !== config) services = { ...unchanging, config };
    return services;
  };
}
