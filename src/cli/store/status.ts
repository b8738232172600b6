// larder status
import type { KeyObject } from 'node:crypto';

import { counted, distance } from '#domain/quantities.ts';
import { copiesForReturn } from '#backup/before-upgrade.ts';
import { fingerprintOf } from '#macaroons/site-key.ts';
import { tokensEnding } from '#macaroons/uses.ts';
import { documentsAt } from '#operations/appliance/documents.ts';
import { readCertificates } from '#tls/keeper.ts';
import { diskSpace, occupied } from '#data/blobs.ts';
import { bytes } from '#domain/byte-size.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import { ConfigError } from '#src/config.ts';
import { inOneSentence } from '#src/system-errors.ts';
import { version } from '#src/version.ts';
import { command, Failure, type Answer, type Call, type World } from '../frame/command.ts';
import { askServing } from '#data/ask-serving.ts';
import { workersSay, type ServingState } from '#data/serving-state.ts';
import { certificateEnds, expiryFaults } from '#examinations/certificate.ts';
import { diskFaults } from '#examinations/files.ts';
import { masterKeyFaults } from '#examinations/keys.ts';
import { whyInvalid } from '#examinations/opening.ts';
import { backupFaults, pendingFaults, tokenFaults } from '#examinations/records.ts';
import { transferFaults } from '#examinations/transfers.ts';
import { describeFault, textOf, type Fault, type Severity } from '#src/faults.ts';
import { pendingWork, type PendingKind } from '#transfers/pending.ts';
import { masterKeyOf } from '../key/keys.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { columns, visible, widthOf } from '../frame/terminal.ts';
import { faultsOfStart, unitState, whyNotServed, type UnitState } from './service.ts';
import { packageArgument, packageOf } from '../package/named.ts';
import { channelTable } from '../release/table.ts';

export const status = command({
  name: 'status',
  summary: 'Show on one screen how the store is; with a package, what its channels hold.',
  description:
    'The line of the audit log is its head: copied to another place, it proves later with ' +
    "'larder audit verify --head' that nothing was taken away or changed up to it.",
  positionals: [{ ...packageArgument, optional: true }],
  examples: ['larder status', 'larder status snap/hello', 'larder status --json'],

  run(call) {
    const { package: named } = call.positionals;
    if (named === undefined) return statusOfStore(call);
    return withStore(call, async ({ records, now }) => channelTable(records, await packageOf(records, named), now()));
  },
});

async function statusOfStore(call: Pick<Call, 'data' | 'world'>): Promise<Answer> {
  // Root may read the journal; the owner of the store may not.
  const unit = unitState(call.data);
  try {
    return await statusOfRecords(call, unit);
  } catch (error) {
    const serving = await askServing(call.data).catch(() => undefined);
    if (serving !== undefined) return statusOfProcess(call, serving, error);
    // There is no store, or it belongs to another user.
    if (error instanceof Failure && error.code !== 'store-damaged') throw error;
    const faults = faultsOfStart(call.data, unit, error);
    if (faults.length === 0) throw error;
    return statusUnopened(call, faults, error);
  }
}

const whyNotShown = (error: unknown, data: string): string =>
  error instanceof ConfigError ? whyInvalid(error) : inOneSentence(error, { data });

/** The status of a store that is not served and cannot be opened. */
function statusUnopened({ data, world }: Pick<Call, 'data' | 'world'>, faults: Fault[], error: unknown): Answer {
  const because = whyNotShown(error, data);
  const rows: Row[] = [
    ['Store', `${data}, larder ${version}`],
    ['Serving', 'no'],
    ...(faults.some(({ says }) => says.includes(because))
      ? []
      : [['Not shown', `what the records say: ${visible(because)}`] satisfies Row]),
    ...rowsOfFaults({ serving: undefined, faults }),
  ];
  const text = columns(rows, widthOf(world.stdout, 120)).trimEnd();
  return { text, json: { version, serving: null, faults, error: because }, exitCode: 1 };
}

/** The status that the serving process reports, if the configuration or the records cannot be opened. */
function statusOfProcess({ data, world }: Pick<Call, 'data' | 'world'>, serving: ServingState, error: unknown): Answer {
  const because = whyNotShown(error, data);
  const faults = serving.faults ?? [];
  const rows: Row[] = [
    ['Store', `${serving.url}, larder ${serving.version}`],
    ['Serving', servingSays(serving)],
    ['Not shown', `what the records say: ${visible(because)}`],
    ...rowsOfFaults({ serving, faults }),
  ];
  const text = columns(rows, widthOf(world.stdout, 120)).trimEnd();
  return { text, json: { version, serving, faults, error: because }, exitCode: 1 };
}

const statusOfRecords = (call: Pick<Call, 'data' | 'world'>, unit: UnitState | undefined): Promise<Answer> =>
  withStore(call, async (store) => {
    const found = await lookAt(store, call.world, unit);
    const { certificate, head } = found;
    const json = {
      version,
      serving: found.serving ?? null,
      faults: found.faults,
      pending: Object.fromEntries(found.pending.map(({ kind, count }) => [kind.replaceAll(' ', '-'), count])),
      'base-url': found.baseUrl,
      documents: found.documents ?? null,
      certificate: certificate
        ? { hosts: certificate.hosts, ends: certificate.ends, fingerprint: certificate.fingerprint }
        : null,
      counts: found.counts,
      disk: found.disk,
      postgres: found.server ?? null,
      'site-key-fingerprint': found.siteKeyFingerprint,
      'audit-head': head ?? null,
      'last-backup': found.lastBackup ?? null,
      'tokens-ending': found.tokensEnding,
      'before-upgrade': found.copies,
    };
    const rows: Row[] = [
      ...rowsOfServing(found),
      ...rowsOfContents(found, store.now()),
      ['Site key', `fingerprint ${found.siteKeyFingerprint}`],
      ['Audit log', head ? `${String(head.seq)}:${head.hash}` : 'empty'],
      ...rowsOfFaults(found),
    ];
    return { text: columns(rows, widthOf(call.world.stdout, 120)).trimEnd(), json };
  });

type Row = [label: string, text: string];
type Found = Awaited<ReturnType<typeof lookAt>>;

async function lookAt(store: OpenStore, world: World, unit: UnitState | undefined) {
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
    disk: await occupied(store),
    server: database.server && { place: database.server.place, version: (await database.server.state()).version },
    siteKeyFingerprint: fingerprintOf(siteKey),
    head: await records.audit.head(),
    lastBackup: (await records.audit.newestOf('backup'))?.at,
    tokensEnding: await tokensEnding(records, latestTime),
    copies: copiesForReturn(directory),
  };
}

function rowsOfServing({ serving, baseUrl, documents, certificate }: Found): Row[] {
  const rows: Row[] = [['Store', `${baseUrl}, larder ${version}`]];
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
  const together = workers === undefined ? '' : `, ${workersSay(workers)}`;
  return `yes, since ${since}, process ${String(pid)}${together}, log level ${level}`;
}

function rowsOfContents(found: Found, now: Date): Row[] {
  const { counts, disk, lastBackup, tokensEnding, copies, serving } = found;
  const { packages, revisions, accounts, waiting, unclaimed, rejected, blobBytes, damagedBlobs } = counts;
  const damaged = damagedBlobs > 0 ? `, ${String(damagedBlobs)} damaged and out of service` : '';
  const rows: Row[] = [
    ['Packages', `${counted(packages, 'name')}, ${counted(revisions, 'revision')}, ${counted(accounts, 'account')}`],
    [
      'Uploads',
      `${counted(waiting, 'waits', 'wait')} for review, ${String(unclaimed)} not pushed yet, ${String(rejected)} rejected`,
    ],
    ['Waiting for people', pendingSays(found.pending)],
    ['Blobs', `${bytes(blobBytes)}${damaged}`],
    ['Database', databaseSays(found)],
    ['Disk', `${bytes(disk.diskFreeBytes)} of ${bytes(disk.diskSizeBytes)} free`],
    ['Last backup', lastBackup === undefined ? 'never' : `${lastBackup} (${distance(lastBackup, now)})`],
    ['Tokens ending', tokensEnding === 0 ? 'none' : `${String(tokensEnding)}; see 'larder token list --ending 14d'`],
  ];
  if (copies[0] !== undefined) rows.push(['Before upgrade', copies[0]]);
  if (serving !== undefined) {
    const { bytes: read, roundEnded } = serving.scrub;
    const round = roundEnded === undefined ? 'no round has ended yet' : `last round ended ${roundEnded}`;
    rows.push(['Scrubbed', `${bytes(read)} since the start; ${round}`]);
  }
  return rows;
}

function databaseSays({ disk: { databaseBytes, walBytes = 0 }, server }: Found): string {
  if (server === undefined) return `${bytes(databaseBytes)} and ${bytes(walBytes)} of log`;
  return `${bytes(databaseBytes)} in ${server.place}, PostgreSQL ${server.version}`;
}

function rowsOfFaults({ serving, faults }: Pick<Found, 'serving' | 'faults'>): Row[] {
  const ofSeverity = (severity: Severity, label: string): Row[] =>
    faults.filter((fault) => fault.severity === severity).map((fault): Row => [label, visible(textOf(fault))]);
  return [
    ...ofSeverity('problem', 'Problem'),
    ...ofSeverity('notice', 'Notice'),
    ...(serving === undefined ? [] : [['Jobs', jobsSay(serving.jobs)] satisfies Row]),
  ];
}

/** The faults of a store that can be opened but is not served. */
async function faultsUnserved(store: OpenStore, world: World, unit: UnitState | undefined): Promise<Fault[]> {
  const { records, config, directory, now } = store;
  const tls = speaksTls(config) ? readCertificates(directory, tlsSettings(config)) : undefined;
  return [
    whyNotServed(directory, unit) ?? describeFault('not-served', { data: directory }),
    ...(await faultsOfReadableKey(store, world)),
    ...diskFaults(diskSpace(directory), config.uploads.reserve),
    ...(tls === undefined ? [] : expiryFaults(certificateEnds(tls), now())),
    ...(await backupFaults(store)),
    ...(await transferFaults(store)),
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
  const kinds = work.filter(({ count }) => count > 0).map(({ kind, count }) => counted(count, kind));
  return kinds.length === 0 ? 'nothing' : kinds.join(', ');
}

/** Summarizes the jobs; `--json` lists each. */
function jobsSay(jobs: readonly { failures: number; problem: string | undefined }[]): string {
  const failing = jobs.filter(({ problem }) => problem !== undefined).length;
  return failing === 0 ? `all ${String(jobs.length)} go well` : `${String(failing)} of ${String(jobs.length)} fail`;
}
