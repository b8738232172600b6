// Needed contents: every digest with a record that needs its bytes, in any table. Code that deletes content, searches for missing content
// or copies the store asks here. The view `needed_contents` lists the tables in one place.
import { sql, type Queries } from '#engine/database.ts';

/** How many `all` reads per query. */
const batch = 1000;

export const neededContents = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Returns whether any record needs this content, by its SHA3-384. */
  has: async (sha3_384: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM needed_contents WHERE sha3_384 = ${sha3_384} LIMIT 1`)),

  list: async (after: string, limit: number) => list(db, after, limit),

  /** Yields all digests in order, each once. */
  async *all() {
    for (let after = ''; ;) {
      const some = await list(db, after, batch);
      yield* some;
      if (some.length < batch) return;
      after = some.at(-1)!;
    }
  },

  /** Describes in words the packages with their revisions, resources and images that need this content, in order, at most `limit`. */
  neededBy: async (sha3_384: string, limit: number) =>
    (
      await db.all<{ owner: string }>(sql`
        SELECT packages.namespace || '/' || packages.name || ' revision ' || revision AS owner
        FROM revisions JOIN packages ON packages.id = package_id WHERE sha3_384 = ${sha3_384} AND deleted_at IS NULL
        UNION
        SELECT packages.namespace || '/' || packages.name || ' upload'
        FROM uploads JOIN packages ON packages.id = package_id WHERE sha3_384 = ${sha3_384} AND uploads.status <> 'approved'
        UNION
        SELECT 'an upload that no package has claimed' FROM uploads WHERE sha3_384 = ${sha3_384} AND package_id IS NULL
        UNION
        SELECT packages.namespace || '/' || packages.name || ' resource ' || resource_revisions.name || ' revision ' || revision
        FROM resource_revisions JOIN packages ON packages.id = package_id WHERE sha3_384 = ${sha3_384} AND deleted_at IS NULL
        UNION
        SELECT packages.namespace || '/' || packages.name || ' image ' || resource
        FROM image_blobs JOIN packages ON packages.id = package_id WHERE sha3_384 = ${sha3_384}
        UNION
        SELECT packages.namespace || '/' || packages.name || ' image ' || resource
        FROM image_manifests JOIN packages ON packages.id = package_id WHERE sha3_384 = ${sha3_384}
        UNION
        SELECT packages.namespace || '/' || packages.name || ' delta from revision ' || source || ' to ' || target
        FROM passing_deltas JOIN packages ON packages.id = package_id WHERE sha3_384 = ${sha3_384}
        UNION
        SELECT 'feed ' || source FROM vulnerability_feeds WHERE sha3_384 = ${sha3_384}
        UNION
        SELECT 'larder/' || version || ' ' || name FROM larder_release_files WHERE sha3_384 = ${sha3_384}
        UNION
        SELECT 'transfer ' || substr(id, 1, 12) FROM transfers WHERE statement = ${sha3_384} AND status <> 'discarded'
        UNION
        SELECT 'transfer ' || substr(id, 1, 12) FROM made_transfers WHERE statement = ${sha3_384}
        UNION
        SELECT 'transfer ' || substr(id, 1, 12) FROM made_texts JOIN made_transfers ON made_transfers.sequence = made_texts.sequence
        WHERE sha3_384 = ${sha3_384}
        UNION
        SELECT 'transfer ' || substr(transfer, 1, 12) FROM passing_transfer_contents WHERE sha3_384 = ${sha3_384}
        UNION
        SELECT packages.namespace || '/' || packages.name || ' icon'
        FROM packages WHERE icon IS NOT NULL AND substr(icon, 1, 96) = ${sha3_384}
        ORDER BY owner LIMIT ${limit}`)
    ).map(({ owner }) => owner),

  /** Returns the user names of the accounts that pushed this content, in order, at most `limit`. */
  pushersOf: async (sha3_384: string, limit: number) =>
    (
      await db.all<{ username: string }>(sql`
        SELECT username FROM uploads JOIN accounts ON accounts.id = pushed_by WHERE sha3_384 = ${sha3_384}
        UNION
        SELECT username FROM revisions JOIN accounts ON accounts.id = created_by
        WHERE sha3_384 = ${sha3_384} AND revisions.deleted_at IS NULL
        ORDER BY username LIMIT ${limit}`)
    ).map(({ username }) => username),
});

/** Lists the digests of needed contents in ascending order, each once, beginning after the digest `after`; '' begins at the first. */
const list = async (db: Pick<Queries, 'all'>, after: string, limit: number): Promise<string[]> =>
  (
    await db.all<{ sha3_384: string }>(sql`
      SELECT DISTINCT sha3_384 FROM needed_contents WHERE sha3_384 > ${after} ORDER BY sha3_384 LIMIT ${limit}`)
  ).map(({ sha3_384 }) => sha3_384);
