// larder revision list
import type { KeptRevision } from '#contract/wire.ts';
import { readRevisionsWithChannels } from '#operations/revisions/revisions-with-channels.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { formatBytes } from '#domain/byte-size.ts';

/** Rows per query. */
const batch = 500;

export const revisionList = command({
  name: 'revision list',
  summary:
    'List the revisions of a package, newest first, with their status, their channels, and the reason of a ' +
    'withdrawal or deletion.',
  positionals: [packageArgument],
  options: {
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 100_000,
      summary: 'The number of revisions. Default: 100.',
    },
  },
  examples: ['larder revision list snap/hello', 'larder revision list snap/hello --limit 1000 --json'],

  run({ positionals, options: { limit = 100 }, data, world }) {
    return withStore({ data, world }, async ({ records, now }) => {
      const { id } = await findPackage(records, positionals.package);
      const revisions: KeptRevision[] = [];
      for (let before = Number.MAX_SAFE_INTEGER; revisions.length < limit;) {
        const batchSize = Math.min(batch, limit - revisions.length);
        const some = await readRevisionsWithChannels(records, id, { before, limit: batchSize, now: now() });
        revisions.push(...some);
        if (some.length < batchSize) break;
        before = some.at(-1)!.revision;
      }
      return {
        text: revisions.length === 0 ? 'There is none.' : table(headings, revisions.map(row)),
        json: { revisions },
      };
    });
  },
});

const headings = ['REVISION', 'VERSION', 'STATUS', 'SIZE', 'CREATED', 'CHANNELS', ''];

const row = (entry: KeptRevision): string[] => [
  String(entry.revision),
  entry.version,
  entry.deleted !== null ? 'deleted' : entry.withdrawn === null ? entry.status : 'withdrawn',
  formatBytes(entry.size),
  entry['created-at'].slice(0, 10),
  entry.channels.join(', ') || '-',
  (entry.deleted ?? entry.withdrawn)?.reason ?? '',
];
