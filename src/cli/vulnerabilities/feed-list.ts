// larder feed list
import type { VulnerabilityFeed } from '#records/vulnerabilities/feeds.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table, visible } from '../frame/terminal.ts';

export const feedList = command({
  name: 'feed list',
  summary: 'List the feeds of advisories about vulnerabilities.',
  examples: ['larder feed list', 'larder feed list --json'],

  run: ({ data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const feeds = await records.vulnerabilityFeeds.list();
      const rows = feeds.map(({ source, datedAt, entries, releases, isInForce }) => [
        ...[visible(source), datedAt.slice(0, 10), String(entries), releases.join(', ') || '-'],
        isInForce ? 'in force' : 'being indexed',
      ]);
      return {
        text:
          rows.length === 0
            ? "There are no feeds; 'larder feed import' imports them."
            : table(['FEED', 'DATED', 'ENTRIES', 'RELEASES', 'STATE'], rows),
        json: {
          feeds: feeds.map((feed) => ({
            ...presentFeed(feed),
            'imported-at': feed.importedAt,
            'imported-by': feed.importedBy,
            'in-force': feed.isInForce,
          })),
        },
      };
    }),
});

/** The content of a feed for programs. */
export const presentFeed = (feed: Omit<VulnerabilityFeed, 'importedAt' | 'importedBy'>) => ({
  source: feed.source,
  format: feed.format,
  'dated-at': feed.datedAt,
  sha256: feed.sha256,
  size: feed.size,
  entries: feed.entries,
  skipped: feed.skipped,
  releases: feed.releases,
});
