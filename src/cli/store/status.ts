// larder status
import type { KeyObject } from '#domain/cryptography.ts';
import { formatCount, formatDistance } from '#domain/quantities.ts';
import { listUpgradeCopies } from '#backup/upgrade-copies.ts';
import { fingerprintOf } from '#macaroons/site-key.ts';
import { tokensEnding } from '#macaroons/token-uses.ts';
import { documentsAt } from '#operations/store/documents.ts';
import { readCertificates } from '#tls/keeper.ts';
import { diskSpace, measureDiskUse } from '#data/blobs.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import { ConfigError } from '#configuration/config.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import { version } from '#platform/version.ts';
import { command, Failure, type CommandResult, type CommandCall, type World } from '../frame/command.ts';
import { askServing } from '#data/ask-serving.ts';
import { describeWorkers, type ServingState } from '#data/serving-state.ts';
import { certificateEnds, expiryFaults } from '#examinations/certificate.ts';
import { diskFaults } from '#examinations/files.ts';
import { keyManagerFaults, masterKeyFaults } from '#examinations/keys.ts';
import { whyInvalid } from '#examinations/opening-fault.ts';
import { backupFaults, lastBackups, pendingFaults, tokenFaults } from '#examinations/records.ts';
import { feedFaults } from '#examinations/feeds.ts';
import { transferFaults } from '#examinations/transfers.ts';
import { describeFault, textOf, type Fault, type Severity } from '#platform/faults.ts';
import { pendingWork, type PendingKind } from '#transfers/pending.ts';
import { hasManagerVariables, keyManagerOf, masterKeyOf } from '../keys/find-keys.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { columns, visible, widthOf } from '../frame/terminal.ts';
import { listStartFaults, readUnitState, explainNotServed, type UnitState } from './service.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { channelTable } from '../releases/channel-table.ts';

export const status = command({
  name: 'status',
  summary: 'Show on one screen how the store is; with a package, what its channels hold.',
  description:
    'The line of the audit log is its head: copied to another place, it proves later with ' +
    "'larder audit verify --head' that nothing was taken away or changed up to it.",
  positionals: [{ ...packageArgument, optional: true }],
  examples: ['larder status', 'larder status snap/hello', 'larder status --json'],

  run(call) {
    const { package: packageText } = call.positionals;
    if (packageText === undefined) return statusOfStore(call);
    return withStore(call, async ({ records, now }) =>
      channelTable(records, await findPackage(records, packageText), now()),
    );
  },
});

async function statusOfStore(call: Pick<CommandCall, 'data' | 'world'>): Promise<CommandResult> {
  // Root may read the journal; the owner of the store may not.
  const unit = readUnitState(call.data);
  try {
    return await statusOfRecords(call, unit);
  } catch (error) {
    const serving = await askServing(call.data).catch(() => undefined);
    if (serving !== undefined) return statusOfProcess(call, serving, error);
    // There is no store, or it belongs to another user.
    if (error instanceof Failure && error.code !== 'store-damaged') throw error;
    const faults = listStartFaults(call.data, unit, error);
    if (faults.length === 0) throw error;
    return statusUnopened(call, faults, error);
  }
}

const whyNotShown = (error: unknown, data: string): string =>
  error instanceof ConfigError ? whyInvalid(error) : inOneSentence(error, { data });

/** The status of a store that is not served and cannot be opened. */
function statusUnopened(
  { data, world }: Pick<CommandCall, 'data' | 'world'>,
  faults: Fault[],
  error: unknown,
): CommandResult {
  const because = whyNotShown(error, data);
  const rows: StatusRow[] = [
    ['Store', `${data}, larder ${version}`],
    ['Serving', 'no'],
    ...(faults.some(({ says }) => says.includes(because))
      ? []
      : [['Not shown', `what the records say: ${visible(because)}`] satisfies StatusRow]),
    ...rowsOfFaults({ serving: undefined, faults }),
  ];
  const text = columns(rows, widthOf(world.stdout, 120)).trimEnd();
  return { text, json: { version, serving: null, faults, error: because }, exitCode: 1 };
}

/** The status that the serving process reports, if the configuration or the records cannot be opened. */
function statusOfProcess(
  { data, world }: Pick<CommandCall, 'data' | 'world'>,
  serving: ServingState,
  error: unknown,
): CommandResult {
  const because = whyNotShown(error, data);
  const faults = serving.faults ?? [];
  const rows: StatusRow[] = [
    ['Store', `${serving.url}, larder ${serving.version}`],
    ['Serving', servingSays(serving)],
    ['Not shown', `what the records say: ${visible(because)}`],
    ...rowsOfFaults({ serving, faults }),
  ];
  const text = columns(rows, widthOf(world.stdout, 120)).trimEnd();
  return { text, json: { version, serving, faults, error: because }, exitCode: 1 };
}

const statusOfRecords = (
  call: Pick<CommandCall, 'data' | 'world'>,
  unit: UnitState | undefined,
): Promise<CommandResult> =>
  withStore(call, async (store) => {
    const overview = await readOverview(store, call.world, unit);
    const { certificate, head } = overview;
    const json = {
      version,
      serving: overview.serving ?? null,
      faults: overview.faults,
      pending: Object.fromEntries(overview.pending.map(({ kind, count }) => [kind.replaceAll(' ', '-'), count])),
      'base-url': overview.baseUrl,
      documents: overview.documents ?? null,
      certificate: certificate
        ? { hosts: certificate.hosts, ends: certificate.ends, fingerprint: certificate.fingerprint }
        : null,
      counts: overview.counts,
      disk: overview.disk,
      postgres: overview.server ?? null,
      'site-key-fingerprint': overview.siteKeyFingerprint,
      'audit-head': head ?? null,
      'last-backup': overview.lastBackups.last?.at ?? null,
      'last-drill': overview.lastBackups.drill?.at ?? null,
      'tokens-ending': overview.tokensEnding,
      'before-upgrade': overview.copies,
    };
    const rows: StatusRow[] = [
      ...rowsOfServing(overview),
      ...rowsOfContents(overview, store.now()),
      ['Site key', `fingerprint ${overview.siteKeyFingerprint}`],
      ['Audit log', head ? `${String(head.seq)}:${head.hash}` : 'empty'],
      ...rowsOfFaults(overview),
    ];
    return { text: columns(rows, widthOf(call.world.stdout, 120)).trimEnd(), json };
  });

type StatusRow = [label: string, text: string];
type StoreOverview = Awaited<ReturnType<typeof readOverview>>;

async function readOverview(store: OpenStore, world: World, unit: UnitState | undefined) {
  const { records, config, directory, siteKey, latestTime, database } = store;
  const serving = await askServing(directory);
  return {
    serving,
    faults: serving === undefined ? await faultsUnserved(store, world, unit) : (serving.faults ?? []),
    pending: await pendingWork(records, store.now()),
    baseUrl: config.http.base_url,
    documents: documentsAt(config),
    certificate: speaksTls(config) ? readCertificates(directory, tlsSettings(config)) : undefined,
    counts: await records.counts.all(),
    disk: await measureDiskUse(store),
    server: database.server && { place: database.server.place, version: (await database.server.state()).version },
    siteKeyFingerprint: fingerprintOf(siteKey),
    head: await records.audit.head(),
    lastBackups: await lastBackups(records),
    tokensEnding: await tokensEnding(records, latestTime),
    copies: listUpgradeCopies(directory),
  };
}

function rowsOfServing({ serving, baseUrl, documents, certificate }: StoreOverview): StatusRow[] {
  const rows: StatusRow[] = [['Store', `${baseUrl}, larder ${version}`]];
  if (documents !== undefined) rows.push(['Documents', documents]);
  rows.push(['Serving', serving === undefined ? 'no' : servingSays(serving)]);
  if (serving?.sealed) rows.push(['Signing', 'sealed: there is no signing master key']);
  if (certificate !== undefined) {
    const { hosts, ends, fingerprint } = certificate;
    rows.push(['Certificate', `for ${hosts.join(', ')} until ${ends.toISOString().slice(0, 10)}`]);
    rows.push(['Fingerprint', fingerprint]);
  }
  return rows;
}

function servingSays({ since, pid, level, workers }: ServingState): string {
  const together = workers === undefined ? '' : `, ${describeWorkers(workers)}`;
  return `yes, since ${since}, process ${String(pid)}${together}, log level ${level}`;
}

function rowsOfContents(overview: StoreOverview, now: Date): StatusRow[] {
  const {
    counts,
    disk,
    lastBackups: { last, drill },
    tokensEnding,
    copies,
    serving,
  } = overview;
  const whenOf = (entry: { at: string } | undefined): string =>
    entry === undefined ? 'never' : `${entry.at} (${formatDistance(entry.at, now)})`;
  const { packages, revisions, accounts, waiting, unclaimed, rejected, blobBytes, damagedBlobs } = counts;
  const damaged = damagedBlobs > 0 ? `, ${String(damagedBlobs)} corrupt and out of service` : '';
  const rows: StatusRow[] = [
    [
      'Packages',
      `${formatCount(packages, 'name')}, ${formatCount(revisions, 'revision')}, ${formatCount(accounts, 'account')}`,
    ],
    [
      'Uploads',
      `${formatCount(waiting, 'waits', 'wait')} for review, ${String(unclaimed)} not pushed yet, ${String(rejected)} rejected`,
    ],
    ['Waiting for people', pendingSays(overview.pending)],
    ['Blobs', `${formatBytes(blobBytes)}${damaged}`],
    ['Database', databaseSays(overview)],
    ['Disk', `${formatBytes(disk.diskFreeBytes)} of ${formatBytes(disk.diskSizeBytes)} free`],
    ['Last backup', whenOf(last)],
    ['Last drill', whenOf(drill)],
    ['Tokens ending', tokensEnding === 0 ? 'none' : `${String(tokensEnding)}; see 'larder token list --ending 14d'`],
  ];
  if (copies[0] !== undefined) rows.push(['Before upgrade', copies[0]]);
  if (serving !== undefined) {
    const { bytes: read, roundEnded } = serving.scrub;
    const round = roundEnded === undefined ? 'no round has ended yet' : `last round ended ${roundEnded}`;
    rows.push(['Scrubbed', `${formatBytes(read)} since the start; ${round}`]);
  }
  return rows;
}

function databaseSays({ disk: { databaseBytes, walBytes = 0 }, server }: StoreOverview): string {
  if (server === undefined) return `${formatBytes(databaseBytes)} and ${formatBytes(walBytes)} of log`;
  return `${formatBytes(databaseBytes)} in ${server.place}, PostgreSQL ${server.version}`;
}

function rowsOfFaults({ serving, faults }: Pick<StoreOverview, 'serving' | 'faults'>): StatusRow[] {
  const ofSeverity = (severity: Severity, label: string): StatusRow[] =>
    faults.filter((fault) => fault.severity === severity).map((fault): StatusRow => [label, visible(textOf(fault))]);
  return [
    ...ofSeverity('problem', 'Problem'),
    ...ofSeverity('notice', 'Notice'),
    ...(serving === undefined ? [] : [['Jobs', jobsSay(serving.jobs)] satisfies StatusRow]),
  ];
}

/** The faults of a store that can be opened but is not served. */
async function faultsUnserved(store: OpenStore, world: World, unit: UnitState | undefined): Promise<Fault[]> {
  const { records, config, directory, now } = store;
  const tls = speaksTls(config) ? readCertificates(directory, tlsSettings(config)) : undefined;
  return [
    explainNotServed(directory, unit) ?? describeFault('not-served', { data: directory }),
    ...(await faultsOfReadableKey(store, world)),
    ...(await keyManagerFaults(store, hasManagerVariables(config, world) ? keyManagerOf(store, world) : undefined)),
    ...diskFaults(diskSpace(directory), config.uploads.reserve),
    ...(tls === undefined ? [] : expiryFaults(certificateEnds(tls), now())),
    ...(await backupFaults(store)),
    ...(await transferFaults(store)),
    ...(await feedFaults(store)),
    ...(await tokenFaults(store)),
    ...pendingFaults(await pendingWork(records, now())),
  ];
}

/** The faults of the master key, if this command can read one: systemd may give it to the serving process only. */
async function faultsOfReadableKey(store: OpenStore, world: World): Promise<Fault[]> {
  let key: KeyObject | undefined;
  try {
    key = masterKeyOf(store, world);
  } catch {
    // It keeps the store from starting: the fault of the last start names it.
  }
  return key === undefined ? [] : masterKeyFaults(store.records, key);
}

function pendingSays(work: readonly PendingKind[]): string {
  const kinds = work.filter(({ count }) => count > 0).map(({ kind, count }) => formatCount(count, kind));
  return kinds.length === 0 ? 'nothing' : kinds.join(', ');
}

/** Summarizes the jobs; `--json` lists each. */
function jobsSay(jobs: readonly { failures: number; problem: string | undefined }[]): string {
  const failing = jobs.filter(({ problem }) => problem !== undefined).length;
  return failing === 0 ? `all ${String(jobs.length)} go well` : `${String(failing)} of ${String(jobs.length)} fail`;
}
