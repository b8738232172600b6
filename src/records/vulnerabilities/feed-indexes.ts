// The indexes of feeds: their content as it is searched. They are derived from the files of the feeds, so they are
// written without the audit log and are in no backup; a job makes a missing one again.
import type { Advisory } from '#domain/vulnerabilities/osv.ts';
import type { VexProduct, VexStatement } from '#domain/vulnerabilities/openvex.ts';
import type { VulnerabilitySeverity } from '#domain/vulnerabilities/finding.ts';
import { columns, list, sql, type Queries, type ReadQueries } from '#engine/database.ts';
import { putInForce, type FeedFormat } from './feeds.ts';

export interface FeedIndex {
  id: number;
  source: string;
  format: FeedFormat;
  /** The digest of the file that it was made from. */
  sha3_384: string;
  releases: string[];
}

export interface StoredAdvisory extends Pick<
  Advisory,
  'names' | 'severity' | 'score' | 'summary' | 'publishedAt' | 'modifiedAt'
> {
  feed: string;
  advisory: string;
}

/** A statement about one product, or about one component of it. */
export interface StoredVexStatement extends Omit<VexStatement, 'vulnerabilities' | 'products'> {
  source: string;
  vulnerability: string;
  /** A package URL, another address, or a digest as `sha-256:HEX`. */
  product: string;
  /** The component of the product that the statement is about; null for the product itself. */
  component: string | null;
}

const advisoryColumns = columns`
  source AS feed, advisory, severity, score, summary, names, published_at AS "publishedAt", modified_at AS "modifiedAt"`;

type AdvisoryRow = Omit<StoredAdvisory, 'names'> & { names: string };

const withNames = (row: AdvisoryRow): StoredAdvisory => ({ ...row, names: JSON.parse(row.names) as string[] });

export const feedIndexes = (db: ReadQueries) => ({
  /** Lists the indexes in force, by the names of their feeds. */
  inForce: async (): Promise<FeedIndex[]> => {
    const rows = await db.all<Omit<FeedIndex, 'releases'> & { releases: string }>(sql`
      SELECT id, source, format, made_from AS sha3_384, releases FROM passing_feed_indexes WHERE in_force = 1 ORDER BY source`);
    return rows.map((row) => ({ ...row, releases: JSON.parse(row.releases) as string[] }));
  },

  /** Returns the advisories about a source package of a release, as texts for `parsePackedAdvisories`. */
  packed: async (feedIndex: number, release: string, sourcePackage: string): Promise<string[]> =>
    (
      await db.all<{ advisories: string }>(sql`
        SELECT advisories FROM passing_advisory_packages
        WHERE feed_index = ${feedIndex} AND release = ${release} AND package = ${sourcePackage} ORDER BY part`)
    ).map(({ advisories }) => advisories),

  /** Lists the source packages that a binary package comes from, according to a feed. */
  sourcesOf: async (feedIndex: number, release: string, binaryPackage: string): Promise<string[]> =>
    (
      await db.all<{ name: string }>(sql`
        SELECT source_package AS name FROM passing_advisory_binaries
        WHERE feed_index = ${feedIndex} AND release = ${release} AND package = ${binaryPackage} ORDER BY source_package`)
    ).map(({ name }) => name),

  /** Returns the rating of an advisory. */
  severityOf: async (feedIndex: number, advisory: string): Promise<VulnerabilitySeverity> =>
    (
      await db.get<{ severity: VulnerabilitySeverity }>(sql`
        SELECT severity FROM passing_advisories WHERE feed_index = ${feedIndex} AND advisory = ${advisory}`)
    )?.severity ?? 'unknown',

  /** Lists advisories by their ids in the feeds in force. */
  findByIds: async (ids: readonly string[]): Promise<StoredAdvisory[]> =>
    (
      await db.all<AdvisoryRow>(sql`
        SELECT ${advisoryColumns}
        FROM passing_advisories JOIN passing_feed_indexes ON id = feed_index
        WHERE feed_index IN (SELECT id FROM passing_feed_indexes WHERE in_force = 1) AND advisory IN ${list(ids)}`)
    ).map(withNames),

  /** Returns those of the names that the catalog of exploited vulnerabilities has. */
  exploitedAmong: async (names: readonly string[]): Promise<string[]> =>
    (
      await db.all<{ cve: string }>(sql`
        SELECT cve FROM passing_exploited_vulnerabilities
        WHERE feed_index IN (SELECT id FROM passing_feed_indexes WHERE in_force = 1) AND cve IN ${list(names)}`)
    ).map(({ cve }) => cve),

  /** Lists the statements about vulnerabilities in the feeds in force, the oldest first. */
  statementsAbout: async (vulnerabilities: readonly string[]): Promise<StoredVexStatement[]> => {
    const rows = await db.all<Omit<StoredVexStatement, 'product' | 'component'> & { products: string }>(sql`
      SELECT source, vulnerability, products, status, justification, impact, stated_at AS "statedAt"
      FROM passing_vex_statements JOIN passing_feed_indexes ON id = feed_index
      WHERE feed_index IN (SELECT id FROM passing_feed_indexes WHERE in_force = 1)
        AND vulnerability IN ${list(vulnerabilities)}
      ORDER BY stated_at, number`);
    return rows.flatMap(({ products, ...row }) =>
      (JSON.parse(products) as VexProduct[]).flatMap(({ ids, subcomponents }) => {
        const components = subcomponents.length === 0 ? [null] : subcomponents.flat();
        return ids.flatMap((product) => components.map((component) => ({ ...row, product, component })));
      }),
    );
  },

  /**
   * Lists indexes that are not in force, and were begun before a time: they were replaced, or their import was ended. A
   * complete index of a feed in a waiting transfer is needed for its acceptance.
   */
  unneeded: async (before: string): Promise<number[]> =>
    (
      await db.all<{ id: number }>(sql`
        SELECT id FROM passing_feed_indexes
        WHERE in_force = 0 AND started_at < ${before} AND (
          source = '' OR NOT EXISTS (SELECT 1 FROM passing_transfer_contents WHERE sha3_384 = made_from))
        ORDER BY id`)
    ).map(({ id }) => id),
});

export const ephemeralFeedIndexes = (db: Queries) => ({
  ...feedIndexes(db),

  /** Begins an index. Returns its id. */
  begin: async ({ sha3_384, startedAt }: { sha3_384: string; startedAt: string }): Promise<number> => {
    const { id } = (await db.get<{ id: number }>(sql`
      SELECT coalesce(MAX(id), 0) + 1 AS id FROM passing_feed_indexes`))!;
    await db.run(sql`
      INSERT INTO passing_feed_indexes (id, source, format, made_from, releases, in_force, started_at)
      VALUES (${id}, '', 'osv', ${sha3_384}, '[]', 0, ${startedAt})`);
    return id;
  },

  /** Notes the content of an index when it is complete. */
  complete: ({ id, source, format, releases }: Omit<FeedIndex, 'sha3_384'>) =>
    db.run(sql`
      UPDATE passing_feed_indexes SET source = ${source}, format = ${format}, releases = ${JSON.stringify(releases)}
      WHERE id = ${id}`),

  putInForce: (id: number, source: string) => putInForce(db, id, source),

  /** Adds an advisory. Returns false if the index has one with its id. */
  addAdvisory: async (feedIndex: number, advisory: Omit<Advisory, 'affected'>): Promise<boolean> => {
    const { id, severity, score, publishedAt, modifiedAt, summary, names } = advisory;
    const added = await db.run(sql`
      INSERT INTO passing_advisories
        (feed_index, advisory, severity, score, published_at, modified_at, summary, names)
      VALUES
        (${feedIndex}, ${id}, ${severity}, ${score}, ${publishedAt}, ${modifiedAt}, ${summary}, ${JSON.stringify(names)})
      ON CONFLICT DO NOTHING`);
    return added > 0;
  },

  rateAdvisory: (feedIndex: number, advisory: string, severity: VulnerabilitySeverity) =>
    db.run(sql`
      UPDATE passing_advisories SET severity = ${severity} WHERE feed_index = ${feedIndex} AND advisory = ${advisory}`),

  addPackage: (
    feedIndex: number,
    { release, name, part, advisories }: { release: string; name: string; part: number; advisories: string },
  ) =>
    db.run(sql`
      INSERT INTO passing_advisory_packages (feed_index, release, package, part, advisories)
      VALUES (${feedIndex}, ${release}, ${name}, ${part}, ${advisories})`),

  addBinary: (feedIndex: number, { release, name, source }: { release: string; name: string; source: string }) =>
    db.run(sql`
      INSERT INTO passing_advisory_binaries (feed_index, release, package, source_package)
      VALUES (${feedIndex}, ${release}, ${name}, ${source}) ON CONFLICT DO NOTHING`),

  addStatement: async (feedIndex: number, number: number, statement: VexStatement): Promise<void> => {
    const { vulnerabilities, products, status, justification, impact, statedAt } = statement;
    for (const vulnerability of vulnerabilities) {
      await db.run(sql`
        INSERT INTO passing_vex_statements
          (feed_index, number, vulnerability, products, status, justification, impact, stated_at)
        VALUES
          (${feedIndex}, ${number}, ${vulnerability}, ${JSON.stringify(products)}, ${status}, ${justification}, ${impact}, ${statedAt})`);
    }
  },

  addExploited: (feedIndex: number, cve: string) =>
    db.run(sql`
      INSERT INTO passing_exploited_vulnerabilities (feed_index, cve) VALUES (${feedIndex}, ${cve}) ON CONFLICT DO NOTHING`),

  /** Removes up to `limit` rows of an index that is not in force. Returns how many; the index itself is the last. */
  remove: async (id: number, limit: number): Promise<number> => {
    for (const statement of [
      sql`
        DELETE FROM passing_advisories WHERE feed_index = ${id} AND advisory IN (
          SELECT advisory FROM passing_advisories WHERE feed_index = ${id} LIMIT ${limit})`,
      sql`
        DELETE FROM passing_advisory_packages WHERE feed_index = ${id} AND (release, package, part) IN (
          SELECT release, package, part FROM passing_advisory_packages WHERE feed_index = ${id} LIMIT ${limit})`,
      sql`
        DELETE FROM passing_advisory_binaries WHERE feed_index = ${id} AND (release, package, source_package) IN (
          SELECT release, package, source_package FROM passing_advisory_binaries WHERE feed_index = ${id} LIMIT ${limit})`,
      sql`
        DELETE FROM passing_vex_statements WHERE feed_index = ${id} AND (vulnerability, number) IN (
          SELECT vulnerability, number FROM passing_vex_statements WHERE feed_index = ${id} LIMIT ${limit})`,
      sql`DELETE FROM passing_exploited_vulnerabilities WHERE feed_index = ${id}`,
      sql`DELETE FROM passing_feed_indexes WHERE id = ${id} AND in_force = 0`,
    ]) {
      const removed = await db.run(statement);
      if (removed > 0) return removed;
    }
    return 0;
  },
});
