// larder feed match
import { withBlobs } from '#data/blobs.ts';
import { keepFeedsIndexed } from '#jobs/vulnerabilities/keep-feeds-indexed.ts';
import { matchBills } from '#jobs/vulnerabilities/match-bills.ts';
import { formatCount } from '#domain/quantities.ts';
import { keepHeapSmall } from '#platform/small-heap.ts';
import { command } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { withStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';

export const feedMatch = command({
  name: 'feed match',
  summary: 'Match revisions and images with the feeds of advisories now.',
  description: 'The server does this by itself, within half a minute of a new feed or a new revision.',
  examples: ['larder feed match', 'larder feed match --json'],

  run({ data, world }) {
    keepHeapSmall();
    return withStore({ data, world }, (store) =>
      interruptible(async (signal) => {
        const indexed = await withBlobs(store, ({ blobs }) => keepFeedsIndexed({ ...store, blobs, signal }));
        const matched = await matchBills({ ...store, signal });
        const problems = indexed.unreadable.map(
          ({ source, problem }) => `The feed '${visible(source)}' cannot be indexed: ${visible(problem)}`,
        );
        const { revisions, images } = matched;
        const text = `${formatCount(revisions, 'revision')} and ${formatCount(images, 'image')} were matched.`;
        return {
          text: [text, ...problems].join('\n'),
          json: { ...matched, indexed: indexed.indexed, unreadable: indexed.unreadable },
          exitCode: problems.length === 0 ? 0 : 1,
        };
      }),
    );
  },
});
