// larder status
import { counted, distance } from '#domain/quantities.ts';
import { copiesForReturn } from '#backup/before-upgrade.ts';
import { fingerprintOf } from '#macaroons/site-key.ts';
import { tokensEnding } from '#macaroons/uses.ts';
import { documentsAt } from '#operations/appliance/documents.ts';
import { readCertificates } from '#tls/keeper.ts';
import { occupied } from '#data/blobs.ts';
import { bytes } from '#domain/byte-size.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import { version } from '#src/version.ts';
import { command, type Call } from '../frame/command.ts';
import { servingState, workersSay } from '#data/serving-state.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { columns, visible, widthOf } from '../frame/terminal.ts';
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

const statusOfStore = (call: Pick<Call, 'data' | 'world'>) =>
  withStore(call, async (store) => {
    const found = await lookAt(store);
    const { certificate, head } = found;
    const json = {
      version,
      serving: found.serving ?? null,
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
      ...rowsOfProblems(found),
    ];
    return { text: columns(rows, widthOf(call.world.stdout, 120)).trimEnd(), json };
  });

type Row = [label: string, text: string];
type Found = Awaited<ReturnType<typeof lookAt>>;

async function lookAt(store: OpenStore) {
  const { records, config, directory, siteKey, latestTime, database } = store;
  return {
    serving: servingState(directory),
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
  const workers = serving?.workers === undefined ? '' : `, ${workersSay(serving.workers)}`;
  const since =
    serving && `since ${serving.since}, process ${String(serving.pid)}${workers}, log level ${serving.level}`;
  rows.push(['Serving', since === undefined ? 'no' : `yes, ${since}`]);
  if (serving?.sealed) rows.push(['Signing', 'sealed: there is no signing master key']);
  if (certificate !== undefined) {
    const { hosts, ends, fingerprint } = certificate;
    rows.push(['Certificate', `for ${hosts.join(', ')} until ${ends.toISOString().slice(0, 10)}`]);
    rows.push(['Fingerprint', fingerprint]);
  }
  return rows;
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

function rowsOfProblems({ serving }: Found): Row[] {
  if (serving === undefined) return [];
  const { problems, notices = [], jobs } = serving;
  return [
    ...problems.map((problem): Row => ['Problem', visible(problem)]),
    ...notices.map((notice): Row => ['Notice', visible(notice)]),
    ['Jobs', jobsSay(jobs)],
    ...jobs.flatMap(({ name, problem }): Row[] =>
      problem === undefined ? [] : [['Job fails', `${name}: ${visible(problem)}`]],
    ),
  ];
}

/** How the work that comes round again goes; `--json` tells of each. */
function jobsSay(jobs: readonly { failures: number; problem: string | undefined }[]): string {
  const failing = jobs.filter(({ problem }) => problem !== undefined).length;
  return failing === 0 ? `all ${String(jobs.length)} go well` : `${String(failing)} of ${String(jobs.length)} fail`;
}
