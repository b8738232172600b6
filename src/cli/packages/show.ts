// larder package show
import type { ReadPackageResponse } from '#contract/wire.ts';
import { readPackageDetails } from '#operations/packages/package-details.ts';
import { command } from '../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { withStore } from '../frame/store.ts';
import { columns, table, visible, widthOf } from '../frame/terminal.ts';
import { channelTable } from '../releases/channel-table.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { packageArgument, findPackage } from './package-argument.ts';

/** Maximum number of revisions printed, newest first; `--json` has fifty. */
const newest = 10;

export const packageShow = command({
  name: 'package show',
  summary: 'Show one package: its collaborators, its channels, its newest revisions, and its size on disk.',
  description: "'larder release history' shows the earlier releases of its channels.",
  positionals: [packageArgument],
  examples: ['larder package show snap/hello', 'larder package show snap/hello --json'],

  run({ positionals, data, world }) {
    return withStore({ data, world }, async ({ records, now }) => {
      const subject = await findPackage(records, positionals.package);
      const whole = await readPackageDetails(records, subject, now());
      const channels = await channelTable(records, subject, now());
      const about = columns(rowsOf(whole), widthOf(world.stdout, 120)).trimEnd();
      const revisions = table(
        ['REVISION', 'VERSION', 'STATUS', 'SIZE', 'CREATED', ''],
        whole['newest-revisions']
          .slice(0, newest)
          .map((row) => [
            String(row.revision),
            row.version,
            row.deleted === null ? row.status : 'deleted',
            formatBytes(row.size),
            row['created-at'],
            row.deleted?.reason ?? '',
          ]),
      );
      return { text: [about, channels.text, revisions].join('\n\n'), json: whole };
    });
  },
});

const rowsOf = (whole: ReadPackageResponse): [string, string][] => [
  ['Package', `${whole.namespace}/${whole.name}, ${whole.type}${whole.private ? ', private' : ''}, ${whole.status}`],
  ['Id', whole.id],
  ['Title', visible(whole.title ?? '-')],
  ['License', visible(whole.license ?? '-')],
  ...Object.entries(whole.links).map(([kind, links]): [string, string] => [
    `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
    visible(links.join(', ')),
  ]),
  ['Publisher', `${whole.publisher.username} (${whole.publisher.id})`],
  ['Collaborators', whole.collaborators.map(({ username }) => username).join(', ') || 'none'],
  ['Tracks', whole.tracks.join(', ')],
  ['Registered', whole['created-at']],
  ['Released', whole['released-at'] ?? 'never'],
  [
    'Downloads',
    `${String(whole.downloads.total)} of images, ${String(whole.downloads['last-30-days'])} of them in the last 30 days`,
  ],
  [
    'Disk',
    `${formatBytes(whole.bytes)}; ${formatCount(whole.revisions, 'revision')} with all that belongs to ${whole.revisions === 1 ? 'it' : 'them'}`,
  ],
];
