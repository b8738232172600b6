// Feeds of advisories about vulnerabilities: the accepted file of each source.
import { columns, sql, type Queries, type ReadQueries } from '#engine/database.ts';

export const feedFormats = ['osv', 'openvex', 'kev'] as const;
export type FeedFormat = (typeof feedFormats)[number];

export interface VulnerabilityFeed {
  /** The name of the feed, such as `ubuntu`, `cisa-kev`, or a name that the administrator chose. */
  source: string;
  format: FeedFormat;
  /** The time of the latest change in it, RFC 3339. */
  datedAt: string;
  sha256: string;
  sha3_384: string;
  size: number;
  /** The number of advisories, statements or exploited vulnerabilities. */
  entries: number;
  /** The number of invalid entries that were left out. */
  skipped: number;
  /** The releases that it covers, such as `ubuntu:22.04`. */
  releases: string[];
  importedAt: string;
  /** The actor as in the audit log. */
  importedBy: string;
}

/** A feed, and whether findings are computed from this content of it. */
export interface PresentFeed extends VulnerabilityFeed {
  isInForce: boolean;
}

type FeedRow<Feed> = Omit<Feed, 'releases'> & { releases: string };

const feedColumns = columns`
  vulnerability_feeds.source, vulnerability_feeds.format, dated_at AS "datedAt", sha256,
  sha3_384, size, entries, skipped, vulnerability_feeds.releases, imported_at AS "importedAt", imported_by AS "importedBy"`;

const withReleases = <Feed extends { releases: string[] }>(row: FeedRow<Feed>): Feed =>
  ({ ...row, releases: JSON.parse(row.releases) as string[] }) as unknown as Feed;

export const vulnerabilityFeeds = (db: ReadQueries) => ({
  /** Lists all feeds by their names. */
  list: async (): Promise<PresentFeed[]> => {
    const rows = await db.all<FeedRow<VulnerabilityFeed> & { indexed: number }>(sql`
      SELECT ${feedColumns}, CASE WHEN passing_feed_indexes.id IS NULL THEN 0 ELSE 1 END AS indexed
      FROM vulnerability_feeds
      LEFT JOIN passing_feed_indexes ON passing_feed_indexes.source = vulnerability_feeds.source
        AND in_force = 1 AND made_from = sha3_384
      ORDER BY vulnerability_feeds.source`);
    return rows.map(({ indexed, ...row }) => ({ ...withReleases<VulnerabilityFeed>(row), isInForce: indexed === 1 }));
  },

  find: async (source: string): Promise<VulnerabilityFeed | undefined> => {
    const row = await db.get<FeedRow<VulnerabilityFeed>>(sql`
      SELECT ${feedColumns} FROM vulnerability_feeds WHERE source = ${source}`);
    return row && withReleases(row);
  },
});

export const vulnerabilityFeedChanges = (db: Queries) => ({
  ...vulnerabilityFeeds(db),

  /** Stores a feed in place of the previous one of its source. */
  put: (feed: VulnerabilityFeed) =>
    db.run(sql`
      INSERT INTO vulnerability_feeds
        (source, format, dated_at, sha256, sha3_384, size, entries, skipped, releases, imported_at, imported_by)
      VALUES
        (${feed.source}, ${feed.format}, ${feed.datedAt}, ${feed.sha256}, ${feed.sha3_384}, ${feed.size}, ${feed.entries},
         ${feed.skipped}, ${JSON.stringify(feed.releases)}, ${feed.importedAt}, ${feed.importedBy})
      ON CONFLICT (source) DO UPDATE
      SET format = excluded.format, dated_at = excluded.dated_at, sha256 = excluded.sha256, sha3_384 = excluded.sha3_384,
        size = excluded.size, entries = excluded.entries, skipped = excluded.skipped, releases = excluded.releases,
        imported_at = excluded.imported_at, imported_by = excluded.imported_by`),

  remove: (source: string) => db.run(sql`DELETE FROM vulnerability_feeds WHERE source = ${source}`),

  /** Puts a complete index in force, in place of the previous one of its source. */
  putIndexInForce: (id: number, source: string) => putInForce(db, id, source),

  /** Puts the newest complete index of a file in force, if there is one. */
  putFileInForce: async (sha3_384: string, source: string): Promise<void> => {
    const index = await db.get<{ id: number }>(sql`
      SELECT id FROM passing_feed_indexes WHERE made_from = ${sha3_384} AND source <> '' ORDER BY id DESC LIMIT 1`);
    if (index !== undefined) await putInForce(db, index.id, source);
  },

  /** Ends the use of the index of a source. */
  endIndex: (source: string) =>
    db.run(sql`UPDATE passing_feed_indexes SET in_force = 0 WHERE source = ${source} AND in_force = 1`),
});

export async function putInForce(db: Queries, id: number, source: string): Promise<boolean> {
  await db.run(sql`UPDATE passing_feed_indexes SET in_force = 0 WHERE source = ${source} AND in_force = 1`);
  const done = await db.run(sql`UPDATE passing_feed_indexes SET in_force = 1, source = ${source} WHERE id = ${id}`);
  return done === 1;
}
