// The inventory: what the store holds as a whole, page by page, as those who administer it look through it.
import type { Namespace, PackageType } from '#domain/namespace.ts';
import { sql, type Reading } from '#engine/database.ts';
import { accountColumns, withRoles, type Account } from './accounts.ts';
import type { Brand } from './brands.ts';

/** Which packages are wanted; a member that is null leaves all in. */
export interface Wanted {
  namespace: string | null;
  /** An account's id. */
  publisher: string | null;
  /** The full name of a channel that holds something. */
  channel: string | null;
  /** Bytes. */
  atLeast: number | null;
  /** RFC 3339: registered before. */
  registeredBefore: string | null;
  /** RFC 3339: nothing was released since. */
  quietSince: string | null;
}

/** The figures of a package. */
export interface Figures {
  /** When something was released last. */
  releasedAt: string | null;
  revisions: number;
  /** What lies on the disk for it, each content once. */
  bytes: number;
}

export interface InventoryPackage extends Figures {
  id: string;
  namespace: Namespace;
  name: string;
  type: PackageType;
  private: 0 | 1;
  status: 'registered' | 'published';
  createdAt: string;
  publisherId: string;
  username: string;
}

export interface InventoryAccount extends Account {
  roles: string[];
  disabledAt: string | null;
  /** How many it publishes. */
  packages: number;
}

export interface Use {
  /** Such as `snap/hello`, or an account's id. */
  owner: string;
  packages: number;
  bytes: number;
}

export interface WaitingUpload {
  id: string;
  namespace: Namespace;
  name: string;
  /** The resource that it was pushed for; null when it was pushed as a revision. */
  resource: string | null;
  size: number;
  sha3_384: string;
  pushedAt: string;
  pushedBy: string;
  username: string;
}

export const inventory = (db: Reading) => ({
  /** Packages by namespace and name, behind a place in that order. */
  packages: (wanted: Wanted, after: { namespace: string; name: string }, limit: number) =>
    db.all<InventoryPackage>(sql`
      SELECT * FROM (
        SELECT package.id, namespace, name, type, private, status, package.created_at AS "createdAt",
          publisher_id AS "publisherId", username,
          (SELECT released_at FROM past_releases WHERE package_id = package.id ORDER BY seq DESC LIMIT 1) AS "releasedAt",
          (SELECT count(*) FROM revisions WHERE package_id = package.id AND deleted_at IS NULL) AS revisions,
          -- The view package_contents, which would be gathered whole for each of them.
          (SELECT coalesce(sum(size), 0) FROM (
            SELECT sha3_384, size FROM revisions WHERE package_id = package.id AND deleted_at IS NULL
            UNION SELECT sha3_384, size FROM resource_revisions WHERE package_id = package.id AND deleted_at IS NULL
            UNION SELECT sha3_384, size FROM image_blobs WHERE package_id = package.id
            UNION SELECT sha3_384, size FROM image_manifests WHERE package_id = package.id
            UNION SELECT sha3_384, size FROM uploads WHERE package_id = package.id AND status IN ('new', 'scanned')
          )) AS bytes
        FROM packages AS package JOIN accounts ON accounts.id = publisher_id
        WHERE (namespace, name) > (${after.namespace}, ${after.name})
          AND (${wanted.namespace} IS NULL OR namespace = ${wanted.namespace})
          AND (${wanted.publisher} IS NULL OR publisher_id = ${wanted.publisher})
          AND (${wanted.registeredBefore} IS NULL OR package.created_at < ${wanted.registeredBefore})
          AND (${wanted.channel} IS NULL
            OR EXISTS (SELECT 1 FROM releases WHERE package_id = package.id AND channel = ${wanted.channel}))
          AND (${wanted.quietSince} IS NULL OR NOT EXISTS (
            SELECT 1 FROM past_releases WHERE package_id = package.id AND released_at >= ${wanted.quietSince}))
      ) AS listed
      WHERE ${wanted.atLeast} IS NULL OR bytes >= ${wanted.atLeast}
      ORDER BY namespace, name LIMIT ${limit}`),

  /** The figures of one package. */
  figuresOf: async (packageId: string) =>
    (await db.get<Figures>(sql`
      SELECT (SELECT released_at FROM past_releases WHERE package_id = ${packageId} ORDER BY seq DESC LIMIT 1) AS "releasedAt",
        (SELECT count(*) FROM revisions WHERE package_id = ${packageId} AND deleted_at IS NULL) AS revisions,
        (SELECT coalesce(sum(size), 0) FROM package_contents WHERE package_id = ${packageId}) AS bytes`))!,

  /** Brands in the order of their accounts' ids, behind one of them. */
  brands: (after: string, limit: number) =>
    db.all<Pick<Brand, 'accountId' | 'name' | 'createdAt' | 'createdBy'>>(sql`
      SELECT account_id AS "accountId", name, created_at AS "createdAt", created_by AS "createdBy"
      FROM brands WHERE account_id > ${after} ORDER BY account_id LIMIT ${limit}`),

  /** Accounts in the order of their user names, behind one of them. */
  async accounts(after: string, limit: number): Promise<InventoryAccount[]> {
    const rows = await db.all<Omit<InventoryAccount, 'roles'>>(sql`
      SELECT ${accountColumns}, disabled_at AS "disabledAt",
        (SELECT count(*) FROM packages WHERE publisher_id = accounts.id) AS packages
      FROM accounts WHERE username > ${after} ORDER BY username LIMIT ${limit}`);
    return withRoles(db, rows);
  },

  /** The uploads that wait for a person, the longest waiting first, behind a place in that order. */
  waiting: (after: { pushedAt: string; id: string }, limit: number) =>
    db.all<WaitingUpload>(sql`
      SELECT uploads.id, namespace, name, resource, size, sha3_384, pushed_at AS "pushedAt", pushed_by AS "pushedBy", username
      FROM uploads
      JOIN packages ON packages.id = package_id
      JOIN accounts ON accounts.id = pushed_by
      WHERE uploads.status = 'scanned' AND uploads.status IN ('new', 'scanned')
        AND (pushed_at, uploads.id) > (${after.pushedAt}, ${after.id})
      ORDER BY pushed_at, uploads.id LIMIT ${limit}`),

  /** The packages for which most lies on the disk. */
  largestPackages: (limit: number) =>
    db.all<Use>(sql`
      SELECT namespace || '/' || name AS owner, 1 AS packages, sum(size) AS bytes
      FROM package_contents JOIN packages ON packages.id = package_id
      GROUP BY package_id, namespace, name ORDER BY bytes DESC, owner LIMIT ${limit}`),

  /** The publishers for whom most lies on the disk; what several of one publisher's packages share counts once. */
  largestPublishers: (limit: number) =>
    db.all<Use>(sql`
      SELECT publisher_id AS owner, sum(size) AS bytes,
        (SELECT count(*) FROM packages WHERE publisher_id = held.publisher_id) AS packages
      FROM (SELECT DISTINCT publisher_id, sha3_384, size FROM package_contents JOIN packages ON packages.id = package_id) AS held
      GROUP BY publisher_id ORDER BY bytes DESC, owner LIMIT ${limit}`),

  /** All that packages keep on the disk, what they share once. */
  bytes: async () =>
    (
      await db.get<{ bytes: number }>(sql`
        SELECT coalesce(sum(size), 0) AS bytes FROM (SELECT DISTINCT sha3_384, size FROM package_contents)`)
    )?.bytes ?? 0,
});
