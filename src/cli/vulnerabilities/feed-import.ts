// larder feed import
import { refuseUnfit } from '#acts/vulnerabilities/feeds.ts';
import type { ReceivedBlob } from '#blobs/blobs.ts';
import { withBlobs } from '#data/blobs.ts';
import { Refusal, refusalReason } from '#domain/refusal.ts';
import { isFeedName } from '#domain/vulnerabilities/feed-entry.ts';
import { formatCount } from '#domain/quantities.ts';
import {
  importStoredFeed,
  readStoredFeed,
  receiveFeed,
  type FeedImportContext,
  type FeedImportResult,
} from '#jobs/vulnerabilities/import-feed.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import type { VulnerabilityFeed } from '#records/vulnerabilities/feeds.ts';
import { removeIndex } from '#review/feeds/index-feed.ts';
import { command, UsageError, type CommandCall, type CommandResult } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { createProgress } from '../frame/progress.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';
import { chunksOf, withSentFile, type SentFile } from '../uploads/sent-file.ts';
import { presentFeed } from './feed-list.ts';

export const feedImport = command({
  name: 'feed import',
  summary: 'Import a feed of advisories about vulnerabilities from a file.',
  description:
    'The file is a zip or tar archive of OSV records, as Ubuntu, Debian and Alpine advisories are published; OpenVEX ' +
    'documents; or the catalog of exploited vulnerabilities of CISA (KEV), in JSON. It replaces the previous feed ' +
    'of its name. A feed that is older, damaged or invalid is refused, and the previous one stays in force.',
  positionals: [{ name: 'file', summary: 'The file of the feed.', optional: true }],
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
    upload: { type: 'string', value: 'ID', summary: 'Instead of FILE: read the file from this upload.' },
    'dry-run': {
      type: 'boolean',
      summary: 'Show the feed, and import nothing. Exit code 1 means that the import would be refused.',
    },
  },
  examples: ['larder feed import ./ubuntu-osv.zip', 'larder feed import ./known_exploited_vulnerabilities.json --json'],

  run(call) {
    const { file } = call.positionals;
    const { source, upload } = call.options;
    if ((file === undefined) === (upload === undefined)) throw new UsageError('name either a FILE or an --upload');
    if (source !== undefined && !isFeedName(source))
      throw new UsageError('the name of a feed has lower-case letters, digits, dots, dashes and plus signs');
    keepHeapSmall();
    return file === undefined
      ? withStore(call, (store) => importInto(store, call, () => findUpload(store, upload!)))
      : withSentFile(file, (sent) =>
          withStore(call, (store) => importInto(store, call, (means) => receive(means, call, sent))),
        );
  },
});

type FeedImportCall = Pick<CommandCall, 'json' | 'quiet' | 'world'> & {
  options: {
    source: string | undefined;
    smaller: boolean;
    'skip-invalid': boolean;
    upload: string | undefined;
    'dry-run': boolean;
  };
};

/** Imports the feed that `receiveFile` puts into the store, or only shows it. */
function importInto(
  store: OpenStore,
  { options }: FeedImportCall,
  receiveFile: (means: FeedImportContext) => Promise<ReceivedBlob>,
): Promise<CommandResult> {
  const { source, smaller: mayBeSmaller, 'skip-invalid': skipsInvalid } = options;
  const choices = { source, mayBeSmaller, skipsInvalid };
  return withBlobs(store, ({ blobs }) =>
    interruptible(async (signal) => {
      const means = { ...store, blobs, signal };
      const stored = await receiveFile(means);
      if (!options['dry-run'])
        return toResult(
          await importStoredFeed(means, stored, { ...choices, actor: store.person, acceptsStatements: true }),
        );
      const { feed, problems, index } = await readStoredFeed(means, stored, choices);
      // The import of an upload puts this index in force; a job removes it if there is none.
      if (options.upload === undefined) await removeIndex(store.records, index);
      const present = await store.records.vulnerabilityFeeds.find(feed.source);
      const refused = await refusalReason(() => {
        refuseUnfit(feed, present, mayBeSmaller);
      });
      return toPreview(feed, problems, refused);
    }),
  );
}

async function receive(means: FeedImportContext, call: FeedImportCall, file: SentFile): Promise<ReceivedBlob> {
  const progress = createProgress(call);
  try {
    return await receiveFeed(means, { content: chunksOf(file, progress, means.signal), size: file.size });
  } finally {
    progress.end();
  }
}

async function findUpload({ records }: OpenStore, id: string): Promise<ReceivedBlob> {
  const upload = await records.unclaimedUploads.find(id);
  if (upload === undefined)
    throw new Refusal('resource-not-found', `There is no upload '${id}', or it has expired. Upload the file again.`);
  return upload;
}

function toResult({ feed, problems, isPresent }: FeedImportResult): CommandResult {
  const { source, datedAt } = feed;
  const outcome = isPresent
    ? `The feed '${visible(source)}' of ${datedAt} is present already.`
    : `The feed '${visible(source)}' of ${datedAt} was imported: ${describeContent(feed)}`;
  return {
    text: [outcome, ...describeSkipped(feed, problems)].join('\n'),
    json: {
      ...presentFeed(feed),
      'imported-at': feed.importedAt,
      'imported-by': feed.importedBy,
      problems,
      'already-present': isPresent,
    },
  };
}

type ReadFeed = Parameters<typeof presentFeed>[0];

function toPreview(feed: ReadFeed, problems: readonly string[], refused: string | undefined): CommandResult {
  const { source, datedAt } = feed;
  const outcome = `The feed '${visible(source)}' of ${datedAt} has ${describeContent(feed)}`;
  return {
    text: [outcome, ...describeSkipped(feed, problems), refused ?? 'Nothing was imported.'].join('\n'),
    json: { ...presentFeed(feed), problems, 'dry-run': true, refused: refused ?? null },
    exitCode: refused === undefined ? 0 : 1,
  };
}

const describeContent = ({ entries, releases }: ReadFeed): string =>
  `${formatCount(entries, 'entry', 'entries')}.${releases.length === 0 ? '' : ` It covers ${releases.join(', ')}.`}`;

const describeSkipped = ({ skipped }: Pick<VulnerabilityFeed, 'skipped'>, problems: readonly string[]): string[] =>
  skipped === 0 ? [] : [`${String(skipped)} invalid entries were left out:`, ...problems.map(visible)];
