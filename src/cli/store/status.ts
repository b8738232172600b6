// larder status
import { copiesForReturn } from '#backup/before-upgrade.ts';
import { fingerprintOf } from '#macaroons/site-key.ts';
import { documentsAt } from '#operations/appliance/documents.ts';
import { readCertificates } from '#tls/keeper.ts';
import { occupied } from '#data/blobs.ts';
import { speaksTls, tlsSettings } from '#tls/settings.ts';
import { version } from '#src/version.ts';
import { command, type Call } from '../frame/command.ts';
import { servingState } from '../frame/serving.ts';
import { withStore } from '../frame/store.ts';
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
  withStore(call, async ({ records, config, directory, siteKey, now }) => {
    const serving = servingState(directory);
    const counts = await records.counts.all();
    const disk = occupied(directory);
    const head = await records.audit.head();
    const lastBackup = await records.audit.newestOf('backup');
    const certificate = speaksTls(config) ? readCertificates(directory, tlsSettings(config)) : undefined;
    const copies = copiesForReturn(directory);
    const failing = (serving?.jobs ?? []).filter(({ problem }) => problem !== undefined);
    const documents = documentsAt(config);
    const json = {
      version,
      serving: serving ?? null,
      'base-url': config.http.base_url,
      documents: documents ?? null,
      certificate: certificate
        ? { hosts: certificate.hosts, ends: certificate.ends, fingerprint: certificate.fingerprint }
        : null,
      counts,
      disk,
      'site-key-fingerprint': fingerprintOf(siteKey),
      'audit-head': head ?? null,
      'last-backup': lastBackup?.at ?? null,
      'before-upgrade': copies,
    };
    const rows: [string, string][] = [
      ['Store', `${config.http.base_url}, larder ${version}`],
      ...(documents === undefined ? [] : ([['Documents', documents]] as [string, string][])),
      [
        'Serving',
        serving ? `yes, since ${serving.since}, process ${String(serving.pid)}, log level ${serving.level}` : 'no',
      ],
      ...(serving?.sealed ? ([['Signing', 'sealed: there is no signing master key']] as [string, string][]) : []),
      ...(certificate
        ? ([
            ['Certificate', `for ${certificate.hosts.join(', ')} until ${certificate.ends.toISOString().slice(0, 10)}`],
            ['Fingerprint', certificate.fingerprint],
          ] as [string, string][])
        : []),
      [
        'Packages',
        `${String(counts.packages)} names, ${String(counts.revisions)} revisions, ${String(counts.accounts)} accounts`,
      ],
      [
        'Uploads',
        `${String(counts.waiting)} wait for review, ${String(counts.unclaimed)} not pushed yet, ${String(counts.rejected)} rejected`,
      ],
      [
        'Blobs',
        `${bytes(counts.blobBytes)}${counts.damagedBlobs > 0 ? `, ${String(counts.damagedBlobs)} damaged and out of service` : ''}`,
      ],
      ['Database', `${bytes(disk.databaseBytes)} and ${bytes(disk.walBytes)} of log`],
      ['Disk', `${bytes(disk.diskFreeBytes)} of ${bytes(disk.diskSizeBytes)} free`],
      ['Last backup', lastBackup ? `${lastBackup.at} (${age(lastBackup.at, now())})` : 'never'],
      ...(copies[0] === undefined ? [] : ([['Before upgrade', copies[0]]] as [string, string][])),
      ...(serving
        ? ([
            [
              'Scrubbed',
              `${bytes(serving.scrub.bytes)} since the start; ${serving.scrub.roundEnded === undefined ? 'no round has ended yet' : `last round ended ${serving.scrub.roundEnded}`}`,
            ],
          ] as [string, string][])
        : []),
      ['Site key', `fingerprint ${fingerprintOf(siteKey)}`],
      ['Audit log', head ? `${String(head.seq)}:${head.hash}` : 'empty'],
      ...(serving?.problems ?? []).map((problem): [string, string] => ['Problem', visible(problem)]),
      ...(serving?.notices ?? []).map((notice): [string, string] => ['Notice', visible(notice)]),
      ...(serving ? ([['Jobs', jobsSay(serving.jobs)]] as [string, string][]) : []),
      ...failing.map(({ name, problem }): [string, string] => ['Job fails', `${name}: ${visible(problem!)}`]),
    ];
    return { text: columns(rows, widthOf(call.world.stdout, 120)).trimEnd(), json };
  });

/** How the work that comes round again goes; `--json` tells of each. */
function jobsSay(jobs: readonly { failures: number; problem: string | undefined }[]): string {
  const failing = jobs.filter(({ problem }) => problem !== undefined).length;
  return failing === 0 ? `all ${String(jobs.length)} go well` : `${String(failing)} of ${String(jobs.length)} fail`;
}

/** A number of bytes as a person reads it. */
export function bytes(count: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, count)) / 10)));
  return power === 0 ? `${String(count)} bytes` : `${(count / 2 ** (10 * power)).toFixed(1)} ${units[power]!}`;
}

function age(at: string, now: Date): string {
  const hours = Math.floor((now.getTime() - Date.parse(at)) / 3_600_000);
  return hours < 48 ? `${String(hours)} hours ago` : `${String(Math.floor(hours / 24))} days ago`;
}
