// Searches packages by a part of the name or title, page by page, with the data that a list shows.
import type { PackageNamespace, PackageType } from '#domain/packages/namespace.ts';
import { columns, likePattern, list, sql, type ReadQueries } from '#engine/database.ts';
import type { PackagePlace } from './inventory.ts';

export interface PackageFilter {
  /** The account that publishes or collaborates on them; null matches all. */
  of: string | null;
  namespace: PackageNamespace | null;
  /** A part of the name or title, in any case; empty matches all. */
  text: string;
}

export interface PackageListing extends PackagePlace {
  id: string;
  namespace: PackageNamespace;
  type: PackageType;
  private: 0 | 1;
  title: string | null;
  /** The digest and file ending of the icon. */
  icon: string | null;
  publisherId: string;
  username: string;
  /** Bytes on disk, each content once. */
  bytes: number;
  /** Uploads that wait for their review, or for a person. */
  waiting: number;
  /** The versions in stable of its default track, each once; empty if there is no release. */
  stable: string[];
}

/** How many names one page scans, in about 10 ms. */
const maxScannedNames = 20_000;
/** How many pending uploads are counted per package. */
const maxCountedUploads = 10_000;

const scannedColumns = columns`id, namespace, name, title`;

/** Sort orders of packages; `-` reverses the order. */
export type PackageOrder = '-kind' | `${'' | '-'}${'name' | 'publisher' | 'waiting' | 'size'}`;

export const packageSearch = (db: ReadQueries) => ({
  /**
   * Lists packages by namespace and name after a position, with the position to continue from. A page has at most `limit` packages, perhaps
   * none.
   */
  async page(
    filter: PackageFilter,
    after: PackagePlace,
    limit: number,
  ): Promise<{ packages: PackageListing[]; next: PackagePlace | undefined }> {
    const pattern = likePattern(filter.text.toLowerCase());
    const { namespace, of } = filter;
    const from = namespace !== null && after.namespace < namespace ? { namespace, name: '' } : after;
    const last = namespace ?? '~';
    const matches = await (of === null
      ? amongAll(db, pattern, { from, last, limit: limit + 1 })
      : findAmongOwn(db, of, pattern, { from, last, limit: limit + 1 }));
    const packages = await shown(db, matches.slice(0, limit));
    if (matches.length > limit) return { packages, next: packages.at(-1) };
    return { packages, next: of === null ? await lastLookedAt(db, from, last) : undefined };
  },

  /** Lists packages in another order, by offset. Only the first 20,000 by namespace and name are sorted. */
  async sorted(
    filter: PackageFilter,
    order: PackageOrder,
    { offset, limit }: { offset: number; limit: number },
  ): Promise<PackageListing[]> {
    const pattern = likePattern(filter.text.toLowerCase());
    const { namespace, of } = filter;
    const matches = await db.all<{ id: string }>(sql`
      SELECT looked.id FROM (
        SELECT ${scannedColumns}, publisher_id, bytes FROM packages
        WHERE (namespace, name) > (${namespace ?? ''}, '') AND namespace <= ${namespace ?? '~'}
          AND (${of} IS NULL OR publisher_id = ${of}
            OR id IN (SELECT package_id FROM collaborators WHERE account_id = ${of}))
        ORDER BY namespace, name LIMIT ${maxScannedNames}) AS looked
      JOIN accounts ON accounts.id = looked.publisher_id
      LEFT JOIN (
        SELECT package_id, count(*) AS uploads
        FROM (SELECT package_id FROM uploads WHERE status IN ('new', 'scanned') ORDER BY pushed_at, seq LIMIT ${maxCountedUploads}) AS unsettled
        GROUP BY package_id) AS waiting ON waiting.package_id = looked.id
      WHERE name LIKE ${pattern} ESCAPE '\\' OR lower(title) LIKE ${pattern} ESCAPE '\\'
      ORDER BY
        CASE ${order} WHEN 'name' THEN name WHEN 'publisher' THEN username END,
        CASE ${order} WHEN '-kind' THEN namespace WHEN '-name' THEN name WHEN '-publisher' THEN username END DESC,
        CASE ${order} WHEN 'waiting' THEN coalesce(uploads, 0) WHEN 'size' THEN bytes END,
        CASE ${order} WHEN '-waiting' THEN coalesce(uploads, 0) WHEN '-size' THEN bytes END DESC,
        namespace, name
      LIMIT ${limit} OFFSET ${offset}`);
    const places = new Map(matches.map(({ id }, at) => [id, at]));
    const packages = await shown(db, matches);
    return packages.sort((item, other) => places.get(item.id)! - places.get(other.id)!);
  },

  /** Returns whether there are more packages than are sorted. */
  sortsNotAll: async ({ of, namespace }: PackageFilter): Promise<boolean> =>
    of === null && (await lastLookedAt(db, { namespace: namespace ?? '', name: '' }, namespace ?? '~')) !== undefined,
});

interface PackageSearchRange {
  from: PackagePlace;
  /** The last namespace of the range. */
  last: string;
  limit: number;
}

const amongAll = (db: ReadQueries, pattern: string, { from: { namespace, name }, last, limit }: PackageSearchRange) =>
  db.all<{ id: string }>(sql`
    SELECT id FROM (
      SELECT ${scannedColumns} FROM packages
      WHERE (namespace, name) > (${namespace}, ${name}) AND namespace <= ${last}
      ORDER BY namespace, name LIMIT ${maxScannedNames}) AS looked
    WHERE name LIKE ${pattern} ESCAPE '\\' OR lower(title) LIKE ${pattern} ESCAPE '\\'
    ORDER BY namespace, name LIMIT ${limit}`);

/** Returns the last scanned position, if the scan ended at its maximum of names. */
const lastLookedAt = (db: ReadQueries, { namespace, name }: PackagePlace, last: string) =>
  db.get<PackagePlace>(sql`
    SELECT namespace, name FROM packages
    WHERE (namespace, name) > (${namespace}, ${name}) AND namespace <= ${last}
    ORDER BY namespace, name LIMIT 1 OFFSET ${maxScannedNames - 1}`);

const findAmongOwn = (
  db: ReadQueries,
  accountId: string,
  pattern: string,
  { from: { namespace, name }, last, limit }: PackageSearchRange,
) =>
  db.all<{ id: string }>(sql`
    SELECT id FROM (
      SELECT ${scannedColumns} FROM packages
      WHERE publisher_id = ${accountId} AND (namespace, name) > (${namespace}, ${name}) AND namespace <= ${last}
      UNION
      SELECT ${scannedColumns} FROM collaborators CROSS JOIN packages
      WHERE account_id = ${accountId} AND id = package_id
        AND (namespace, name) > (${namespace}, ${name}) AND namespace <= ${last}
      ORDER BY namespace, name LIMIT ${maxScannedNames}) AS looked
    WHERE name LIKE ${pattern} ESCAPE '\\' OR lower(title) LIKE ${pattern} ESCAPE '\\'
    ORDER BY namespace, name LIMIT ${limit}`);

/** Returns these packages with the data for a list, by namespace and name. */
async function shown(db: ReadQueries, matches: readonly { id: string }[]): Promise<PackageListing[]> {
  const ids = matches.map(({ id }) => id);
  const rows = await db.all<Omit<PackageListing, 'waiting' | 'stable'>>(sql`
    SELECT package.id, title, namespace, name, type, private, package.publisher_id AS "publisherId", username,
      icon, bytes
    FROM packages AS package
    JOIN accounts ON accounts.id = package.publisher_id
    WHERE package.id IN ${list(ids)} ORDER BY namespace, name`);
  const waiting = await db.all<{ packageId: string; uploads: number }>(sql`
    SELECT package_id AS "packageId", count(*) AS uploads
    FROM (SELECT package_id FROM uploads WHERE status IN ('new', 'scanned') ORDER BY pushed_at, seq LIMIT ${maxCountedUploads}) AS waiting
    WHERE package_id IN ${list(ids)} GROUP BY package_id`);
  const stable = await db.all<{ packageId: string; version: string }>(sql`
    SELECT releases.package_id AS "packageId", version
    FROM packages
    CROSS JOIN releases
    CROSS JOIN revisions
    WHERE packages.id IN ${list(ids)} AND releases.package_id = packages.id
      AND channel = coalesce(default_track, 'latest') || '/stable' AND progressive = 0
      AND revisions.package_id = releases.package_id AND revisions.revision = releases.revision
    GROUP BY releases.package_id, version ORDER BY max(releases.revision) DESC`);
  const counts = new Map(waiting.map(({ packageId, uploads }) => [packageId, uploads]));
  const versions = Map.groupBy(stable, ({ packageId }) => packageId);
  return rows.map((row) => ({
    ...row,
    waiting: counts.get(row.id) ?? 0,
    stable: (versions.get(row.id) ?? []).map(({ version }) => version),
  }));
}
