// larder feed import
import { withBlobs } from '#data/blobs.ts';
import { isFeedName } from '#domain/vulnerabilities/feed-entry.ts';
import { formatCount } from '#domain/quantities.ts';
import { importFeedContent, type FeedImportResult } from '#jobs/vulnerabilities/import-feed.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { command, UsageError } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { createProgress } from '../frame/progress.ts';
import { withStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';
import { chunksOf, withSentFile } from '../uploads/sent-file.ts';
import { presentFeed } from './feed-list.ts';

export const feedImport = command({
  name: 'feed import',
  summary: 'Import a feed of advisories about vulnerabilities from a file.',
  description:
    'The file is a zip or tar archive of OSV records, as Ubuntu, Debian and Alpine advisories are published; OpenVEX ' +
    'documents; or the catalog of exploited vulnerabilities of CISA (KEV), in JSON. It replaces the previous feed ' +
    'of its name. A feed that is older, damaged or invalid is refused, and the previous one stays in force.',
  positionals: [{ name: 'file', summary: 'The file of the feed.' }],
  options: {
    source: {
      type: 'string',
      value: 'NAME',
      summary: 'The name of the feed. Default: from its content, such as ubuntu, debian or cisa-kev.',
    },
    smaller: {
      type: 'boolean',
      summary: 'Replace the present feed even if this one covers fewer releases, or has less than half of its entries.',
    },
    'skip-invalid': {
      type: 'boolean',
      summary: 'Leave out invalid entries. Without it, a feed with one is refused.',
    },
  },
  examples: ['larder feed import ./ubuntu-osv.zip', 'larder feed import ./known_exploited_vulnerabilities.json --json'],

  run(call) {
    const { source, smaller, 'skip-invalid': skipsInvalid } = call.options;
    if (source !== undefined && !isFeedName(source))
      throw new UsageError('the name of a feed has lower-case letters, digits, dots, dashes and plus signs');
    keepHeapSmall();
    return withSentFile(call.positionals.file, (file) =>
      withStore(call, (store) => {
        const progress = createProgress(call);
        return withBlobs(store, ({ blobs }) =>
          interruptible((signal) =>
            importFeedContent(
              { ...store, blobs, signal },
              {
                content: chunksOf(file, progress, signal),
                size: file.size,
                actor: store.person,
                source,
                mayBeSmaller: smaller,
                skipsInvalid,
                acceptsStatements: true,
              },
            ),
          ),
        )
          .then(toResult)
          .finally(() => {
            progress.end();
          });
      }),
    );
  },
});

function toResult({ feed, problems, isPresent }: FeedImportResult): { text: string; json: object } {
  const { source, datedAt, entries, skipped, releases } = feed;
  const covers = releases.length === 0 ? '' : ` It covers ${releases.join(', ')}.`;
  const outcome = isPresent
    ? `The feed '${visible(source)}' of ${datedAt} is present already.`
    : `The feed '${visible(source)}' of ${datedAt} was imported: ${formatCount(entries, 'entry', 'entries')}.${covers}`;
  const left = skipped === 0 ? [] : [`${String(skipped)} invalid entries were left out:`, ...problems.map(visible)];
  return {
    text: [outcome, ...left].join('\n'),
    json: { ...presentFeed(feed), problems, 'already-present': isPresent },
  };
}
