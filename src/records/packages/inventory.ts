// The inventory: lists of everything in the store, page by page, for administrators.
import type { PackageNamespace, PackageType } from '#domain/packages/namespace.ts';
import { columns, list, sql, type ReadQueries } from '#engine/database.ts';
import { accountColumns, publishedBy, type HeldRoles, withRoles, type Account } from '../accounts/accounts.ts';
import type { Brand } from '../brands/brands.ts';
import type { UploadReviewError } from '../uploads/uploads.ts';

/** Filters for packages; null matches all. */
export interface InventoryFilter {
  namespace: string | null;
  /** An account id. */
  publisher: string | null;
  /** The full name of a channel with a release. */
  channel: string | null;
  /** Minimum size in bytes. */
  atLeast: number | null;
  /** Only packages that were registered before this time, RFC 3339. */
  registeredBefore: string | null;
  /** Only packages without a release since this time, RFC 3339. */
  quietSince: string | null;
}

/** The figures of a package. */
export interface PackageFigures {
  /** When the last release was made. */
  releasedAt: string | null;
  revisions: number;
  /** Bytes on disk, each content once. */
  bytes: number;
}

export interface InventoryPackage extends PackageFigures {
  id: string;
  namespace: PackageNamespace;
  name: string;
  type: PackageType;
  private: 0 | 1;
  status: 'registered' | 'published';
  createdAt: string;
  publisherId: string;
  username: string;
}

export interface InventoryAccount extends Account, HeldRoles {
  disabledAt: string | null;
  /** Number of packages that it publishes. */
  packages: number;
}

export interface OwnerDiskUse {
  /** Such as `snap/hello`, or an account id. */
  owner: string;
  packages: number;
  bytes: number;
}

export interface WaitingUpload {
  id: string;
  /** Its number among all uploads. */
  seq: number;
  namespace: PackageNamespace;
  name: string;
  /** The resource that it was pushed for; null if it was pushed as a revision. */
  resource: string | null;
  size: number;
  sha3_384: string;
  pushedAt: string;
  pushedBy: string;
  username: string;
}

const waitingColumns = columns`
  uploads.id, uploads.seq, namespace, name, resource, size, sha3_384, pushed_at AS "pushedAt", pushed_by AS "pushedBy", username`;

/** A rejected upload with the reasons. */
export interface RejectedUpload extends WaitingUpload {
  errors: UploadReviewError[];
}

/** How many of the latest rejected uploads of the store a search by account examines. */
const lastRejected = 1000;

/** A position in the order of packages. */
export interface PackagePlace {
  namespace: string;
  name: string;
}

/** How many packages a page checks against the filters. Each costs 2 µs, or 10 µs on a server with cold caches. */
const maxScannedPackages = 250;

export const inventory = (db: ReadQueries) => ({
  /**
   * Lists packages by namespace and name after a position, with the position to continue from. With filters that many packages may match, a
   * page contains only matches among the next few hundred packages, perhaps none.
   */
  async packages(
    { namespace, publisher, ...picked }: InventoryFilter,
    after: PackagePlace,
    limit: number,
  ): Promise<{ packages: InventoryPackage[]; next: PackagePlace | undefined }> {
    const from = namespace !== null && after.namespace < namespace ? { namespace, name: '' } : after;
    const range = { from, last: namespace ?? '~', publisher };
    const isPicked = Object.values(picked).some((value) => value !== null);
    if (!isPicked) {
      const listed = await inOrder(db, range, limit + 1);
      return { packages: listed.slice(0, limit), next: listed[limit] && listed[limit - 1] };
    }
    const few = await findIfFew(db, picked);
    const looked = few === undefined ? await scanPackages(db, range, maxScannedPackages) : [];
    const matches = await pick(db, few ?? looked.map(({ id }) => id), { ...range, ...picked }, limit + 1);
    const packages = matches.slice(0, limit);
    if (matches.length > limit) return { packages, next: packages.at(-1) };
    return { packages, next: looked.length === maxScannedPackages ? looked.at(-1) : undefined };
  },

  /** Returns the figures of one package. */
  figuresOf: async (packageId: string) =>
    (await db.get<PackageFigures>(sql`
      SELECT (SELECT released_at FROM past_releases WHERE package_id = ${packageId} ORDER BY seq DESC LIMIT 1) AS "releasedAt",
        revisions, bytes
      FROM packages WHERE id = ${packageId}`))!,

  /** Lists brands by account id, beginning after the id `after`. */
  brands: (after: string, limit: number) =>
    db.all<Pick<Brand, 'accountId' | 'name' | 'createdAt' | 'createdBy'>>(sql`
      SELECT account_id AS "accountId", name, created_at AS "createdAt", created_by AS "createdBy"
      FROM brands WHERE account_id > ${after} ORDER BY account_id LIMIT ${limit}`),

  /** Returns the names of these packages, by id. */
  async names(ids: readonly string[]): Promise<Map<string, { namespace: string; name: string }>> {
    const rows = await db.all<{ id: string; namespace: string; name: string }>(sql`
      SELECT id, namespace, name FROM packages WHERE id IN ${list(ids)}`);
    return new Map(rows.map(({ id, ...fullName }) => [id, fullName]));
  },

  /** Lists accounts by user name, beginning after the user name `after`. */
  async accounts(after: string, limit: number): Promise<InventoryAccount[]> {
    const rows = await db.all<Omit<InventoryAccount, keyof HeldRoles>>(sql`
      SELECT ${accountColumns}, disabled_at AS "disabledAt",
        ${publishedBy} AS packages
      FROM accounts WHERE username > ${after} ORDER BY username LIMIT ${limit}`);
    return withRoles(db, rows);
  },

  /** Lists the uploads that wait for a person, the longest wait first, from the position `after`. */
  waiting: (after: { pushedAt: string; seq: number }, limit: number) =>
    db.all<WaitingUpload>(sql`
      SELECT ${waitingColumns}
      FROM uploads
      JOIN packages ON packages.id = package_id
      JOIN accounts ON accounts.id = pushed_by
      WHERE uploads.status = 'scanned' AND uploads.status IN ('new', 'scanned')
        AND (pushed_at, uploads.seq) > (${after.pushedAt}, ${after.seq})
      ORDER BY pushed_at, uploads.seq LIMIT ${limit}`),

  /** Counts the uploads that wait for a person. */
  countWaiting: async () =>
    (await db.get<{ count: number }>(sql`
      SELECT count(*) AS count FROM uploads WHERE status = 'scanned' AND status IN ('new', 'scanned')`))!.count,

  /** Lists the uploads under review to packages that an account publishes or collaborates on, oldest first. */
  underReviewFor: (accountId: string, limit: number) =>
    db.all<WaitingUpload & { status: 'new' | 'scanned' }>(sql`
      SELECT ${waitingColumns}, uploads.status
      FROM uploads
      JOIN packages ON packages.id = package_id
      JOIN accounts ON accounts.id = pushed_by
      WHERE uploads.status IN ('new', 'scanned')
        AND (publisher_id = ${accountId}
          OR EXISTS (SELECT 1 FROM collaborators WHERE package_id = packages.id AND account_id = ${accountId}))
      ORDER BY pushed_at, uploads.seq LIMIT ${limit}`),

  /**
   * Lists rejected uploads, pushed after `since`, to packages that an account publishes or collaborates on, newest first. Examines only the
   * `lastRejected` latest.
   */
  async rejectedFor(accountId: string, since: string, limit: number): Promise<RejectedUpload[]> {
    const rows = await db.all<WaitingUpload & { errors: string | null }>(sql`
      SELECT ${waitingColumns}, errors
      FROM (SELECT * FROM uploads WHERE status = 'rejected' ORDER BY seq DESC LIMIT ${lastRejected}) AS uploads
      JOIN packages ON packages.id = package_id
      JOIN accounts ON accounts.id = pushed_by
      WHERE pushed_at > ${since}
        AND (publisher_id = ${accountId}
          OR EXISTS (SELECT 1 FROM collaborators WHERE package_id = packages.id AND account_id = ${accountId}))
      ORDER BY uploads.seq DESC LIMIT ${limit}`);
    return rows.map(({ errors, ...row }) => ({ ...row, errors: JSON.parse(errors ?? '[]') as UploadReviewError[] }));
  },

  /** Lists the packages with the most bytes on disk. */
  largestPackages: (limit: number) =>
    db.all<OwnerDiskUse>(sql`
      SELECT namespace || '/' || name AS owner, 1 AS packages, largest.bytes
      FROM (SELECT package_id, bytes FROM package_figures WHERE bytes > 0 ORDER BY bytes DESC, package_id DESC LIMIT ${limit})
        AS largest
      JOIN packages ON packages.id = package_id
      ORDER BY largest.bytes DESC, owner`),

  /** Like `largestPackages`, with the ids of the packages. */
  largestById: (limit: number) =>
    db.all<OwnerDiskUse & { id: string }>(sql`
      SELECT package_id AS id, namespace || '/' || name AS owner, 1 AS packages, largest.bytes
      FROM (SELECT package_id, bytes FROM package_figures WHERE bytes > 0 ORDER BY bytes DESC, package_id DESC LIMIT ${limit})
        AS largest
      JOIN packages ON packages.id = package_id
      ORDER BY largest.bytes DESC, owner`),

  /** Lists the publishers with the most bytes on disk. Content shared by packages of one publisher counts once. */
  largestPublishers: (limit: number) =>
    db.all<OwnerDiskUse>(sql`
      SELECT owner, bytes, packages
      FROM (
        SELECT publisher_id AS owner, bytes, packages FROM publishers
        WHERE bytes > 0 ORDER BY bytes DESC, publisher_id DESC LIMIT ${limit})
        AS largest
      ORDER BY bytes DESC, owner`),

  /** Returns the bytes of all packages on disk, shared content once. */
  bytes: async () =>
    (await db.get<{ bytes: number }>(sql`SELECT bytes FROM noun_versions WHERE noun = 'packages'`))!.bytes,
});

interface ScannedPackage extends PackagePlace {
  id: string;
}

/** A range of packages: after a position, up to the end of a namespace, optionally of one publisher. */
interface InventoryRange {
  from: PackagePlace;
  last: string;
  publisher: string | null;
}

type InventoryCriteria = Omit<InventoryFilter, 'namespace' | 'publisher'>;

/**
 * Returns the ids of the packages with a release in the channel, or of the size, if they are few. One query finds them among a hundred
 * thousand packages; without it, a client would page through four hundred pages.
 */
async function findIfFew(db: ReadQueries, { channel, atLeast }: InventoryCriteria): Promise<string[] | undefined> {
  const having: { id: string }[][] = [];
  if (atLeast !== null) {
    const large = sql`SELECT package_id AS id FROM package_figures WHERE bytes >= ${atLeast} LIMIT ${maxScannedPackages + 1}`;
    having.push(await db.all<{ id: string }>(large));
  }
  if (channel !== null) {
    const holding = sql`SELECT DISTINCT package_id AS id FROM releases WHERE channel = ${channel} LIMIT ${maxScannedPackages + 1}`;
    having.push(await db.all<{ id: string }>(holding));
  }
  return having.find(({ length }) => length <= maxScannedPackages)?.map(({ id }) => id);
}

/** Lists the next packages without further filters. */
const scanPackages = (
  db: ReadQueries,
  { from: { namespace, name }, last, publisher }: InventoryRange,
  limit: number,
) =>
  publisher === null
    ? db.all<ScannedPackage>(sql`
        SELECT id, namespace, name FROM packages
        WHERE (namespace, name) > (${namespace}, ${name}) AND namespace <= ${last} ORDER BY namespace, name LIMIT ${limit}`)
    : db.all<ScannedPackage>(sql`
        SELECT id, namespace, name FROM packages
        WHERE publisher_id = ${publisher} AND (namespace, name) > (${namespace}, ${name}) AND namespace <= ${last}
        ORDER BY namespace, name LIMIT ${limit}`);

const listedColumns = columns`
  package.id, namespace, name, type, private, status, package.created_at AS "createdAt",
  package.publisher_id AS "publisherId", username,
  (SELECT released_at FROM past_releases WHERE package_id = package.id ORDER BY seq DESC LIMIT 1) AS "releasedAt",
  revisions, bytes`;

/** Lists the next packages with all their data in one query. That costs half as much as finding them by id in a second query. */
const inOrder = (db: ReadQueries, { from: { namespace, name }, last, publisher }: InventoryRange, limit: number) =>
  publisher === null
    ? db.all<InventoryPackage>(sql`
        SELECT ${listedColumns}
        FROM packages AS package
        CROSS JOIN accounts
        WHERE accounts.id = package.publisher_id AND (namespace, name) > (${namespace}, ${name}) AND namespace <= ${last}
        ORDER BY namespace, name LIMIT ${limit}`)
    : db.all<InventoryPackage>(sql`
        SELECT ${listedColumns}
        FROM packages AS package
        CROSS JOIN accounts
        WHERE accounts.id = package.publisher_id AND package.publisher_id = ${publisher}
          AND (namespace, name) > (${namespace}, ${name}) AND namespace <= ${last}
        ORDER BY namespace, name LIMIT ${limit}`);

/** Returns the first of these packages that match the filters. It stops as soon as the page is full. */
const pick = (db: ReadQueries, ids: string[], filter: InventoryRange & InventoryCriteria, limit: number) =>
  db.all<InventoryPackage>(sql`
    SELECT ${listedColumns}
    FROM packages AS package
    CROSS JOIN accounts
    WHERE accounts.id = package.publisher_id AND package.id IN ${list(ids)}
      AND (namespace, name) > (${filter.from.namespace}, ${filter.from.name}) AND namespace <= ${filter.last}
      AND (${filter.publisher} IS NULL OR package.publisher_id = ${filter.publisher})
      AND (${filter.registeredBefore} IS NULL OR package.created_at < ${filter.registeredBefore})
      AND (${filter.channel} IS NULL
        OR EXISTS (SELECT 1 FROM releases WHERE package_id = package.id AND channel = ${filter.channel}))
      AND (${filter.quietSince} IS NULL OR ${filter.quietSince} > coalesce(
        (SELECT released_at FROM past_releases WHERE package_id = package.id ORDER BY seq DESC LIMIT 1), ''))
      AND (${filter.atLeast} IS NULL OR bytes >= ${filter.atLeast})
    ORDER BY namespace, name LIMIT ${limit}`);
