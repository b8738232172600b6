// Deltas: the difference between two revisions of a snap. They are derived from the revisions and can be made again.
import { columns, list, sql, type Queries } from '#engine/database.ts';

export interface Delta {
  packageId: string;
  /** The revision that a device has, and the revision that it gets. */
  source: number;
  target: number;
  sha3_384: string;
  size: number;
}

/** A delta that was tried. Without content, it was larger than its size limit, or making it failed. */
export interface DeltaAttempt extends Omit<Delta, 'sha3_384'> {
  sha3_384: string | null;
  /** When its target was released, RFC 3339. */
  releasedAt: string;
}

/** Results of making deltas, and downloads by devices: a delta was served, or the whole file of a revision. */
export type DeltaEvent = 'made' | 'refused' | 'failed' | 'served' | 'whole';

/** A snap with new releases. The version changes with each release. */
export interface DeltaWork {
  packageId: string;
  version: number;
}

const deltaColumns = columns`package_id AS "packageId", source, target, sha3_384, size`;

export const deltas = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Finds the delta between two revisions of a snap. */
  find: (packageId: string, source: number, target: number) =>
    db.get<Delta>(sql`
      SELECT ${deltaColumns}
      FROM passing_deltas
      WHERE package_id = ${packageId} AND source = ${source} AND target = ${target} AND sha3_384 IS NOT NULL`),

  /** Lists all tried deltas of a snap. */
  tried: (packageId: string) =>
    db.all<DeltaAttempt>(sql`
      SELECT ${deltaColumns}, released_at AS "releasedAt"
      FROM passing_deltas WHERE package_id = ${packageId} ORDER BY source, target`),

  /** Returns whether an attempt to make a delta is recorded, successful or not. */
  any: async () => undefined !== (await db.get(sql`SELECT 1 FROM passing_deltas LIMIT 1`)),

  /** Returns whether a blob is a delta that no other record needs. */
  isAll: async (sha3_384: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM passing_deltas
      WHERE sha3_384 = ${sha3_384} AND 1 = (SELECT COUNT(*) FROM needed_contents WHERE sha3_384 = ${sha3_384}) LIMIT 1`)),

  /** Returns the count and bytes of all deltas, or of those with a target that was released at `since` or later. */
  kept: async (since = '') =>
    (await db.get<{ count: number; bytes: number }>(sql`
      SELECT COUNT(*) AS count, coalesce(SUM(size), 0) AS bytes
      FROM passing_deltas WHERE released_at >= ${since} AND sha3_384 IS NOT NULL LIMIT 1`))!,

  /** Lists the revisions that a slot of a channel held before its current one, latest first. */
  heldBefore: async (
    { packageId, channel, slot, revision }: { packageId: string; channel: string; slot: string; revision: number },
    limit: number,
  ) =>
    (
      await db.all<{ revision: number }>(sql`
        SELECT revision FROM past_releases
        WHERE package_id = ${packageId} AND channel = ${channel} AND slot = ${slot}
          AND revision IS NOT NULL AND revision <> ${revision}
        GROUP BY revision ORDER BY MAX(seq) DESC LIMIT ${limit}`)
    ).map(({ revision }) => revision),

  /** Lists by id the snaps with releases since their deltas were made, beginning after the id `after`. */
  waiting: (after: string, limit: number) =>
    db.all<DeltaWork>(sql`
      SELECT package_id AS "packageId", version FROM passing_delta_work
      WHERE package_id > ${after} ORDER BY package_id LIMIT ${limit}`),

  /** Returns the results and downloads since the store was made. */
  async counted(): Promise<Record<DeltaEvent, number>> {
    const rows = await db.all<{ key: DeltaEvent; count: number }>(
      sql`SELECT key, count FROM notes WHERE kind = 'delta' ORDER BY key`,
    );
    return {
      made: 0,
      refused: 0,
      failed: 0,
      served: 0,
      whole: 0,
      ...Object.fromEntries(rows.map(({ key, count }) => [key, count])),
    };
  },
});

type Pair = Pick<Delta, 'packageId' | 'source' | 'target'>;

const remove = (db: Queries, { packageId, source, target }: Pair) =>
  db.run(sql`
    DELETE FROM passing_deltas WHERE package_id = ${packageId} AND source = ${source} AND target = ${target}`);

export const ephemeralDeltas = (db: Queries) => ({
  ...deltas(db),

  /** Stores a tried delta, unless one of its revisions was deleted in the meantime. */
  keep: ({ packageId, source, target, sha3_384, size, releasedAt }: DeltaAttempt) =>
    db.run(sql`
      INSERT INTO passing_deltas (package_id, source, target, sha3_384, size, released_at)
      SELECT ${packageId}, ${source}, ${target}, ${sha3_384}, ${size}, ${releasedAt}
      WHERE 2 = (
        SELECT COUNT(*) FROM revisions
        WHERE package_id = ${packageId} AND revision IN ${list([source, target])} AND deleted_at IS NULL)
      ON CONFLICT (package_id, source, target) DO UPDATE
      SET sha3_384 = excluded.sha3_384, size = excluded.size, released_at = excluded.released_at`),

  remove: (pair: Pair) => remove(db, pair),

  /** Lists the deltas with a target that was released before `before`, the earliest release first. */
  oldest: (before: string, limit: number) =>
    db.all<DeltaAttempt>(sql`
      SELECT ${deltaColumns}, released_at AS "releasedAt"
      FROM passing_deltas WHERE released_at < ${before} AND sha3_384 IS NOT NULL ORDER BY released_at LIMIT ${limit}`),

  /** Removes deltas. Returns how many, and their blobs. */
  async removeSome(limit: number): Promise<{ removed: number; contents: string[] }> {
    const rows = await db.all<Omit<DeltaAttempt, 'releasedAt'>>(sql`
      SELECT ${deltaColumns} FROM passing_deltas ORDER BY package_id, source, target LIMIT ${limit}`);
    for (const row of rows) await remove(db, row);
    return { removed: rows.length, contents: rows.flatMap(({ sha3_384 }) => sha3_384 ?? []) };
  },

  /** Marks the deltas of a snap as made, unless more was released in the meantime. */
  settle: ({ packageId, version }: DeltaWork) =>
    db.run(sql`DELETE FROM passing_delta_work WHERE package_id = ${packageId} AND version = ${version}`),

  /** Queues all snaps that have releases. */
  lookAtAll: () =>
    db.run(sql`
      INSERT INTO passing_delta_work (package_id, version)
      SELECT DISTINCT package_id, 1 FROM releases JOIN packages ON packages.id = package_id
      WHERE namespace = 'snap'
        AND NOT EXISTS (SELECT 1 FROM passing_delta_work AS work WHERE work.package_id = releases.package_id)`),
});
