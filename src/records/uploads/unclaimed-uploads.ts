// Unclaimed uploads: content from any client that no package has claimed. They have no entries in the audit log, because a stranger could
// fill the log; an upload enters the log when it is claimed.
import { sql, type Queries } from '#engine/database.ts';

/** Received content that no package has claimed yet. */
export interface UnclaimedUpload {
  id: string;
  sha3_384: string;
  sha256: string;
  size: number;
  address: string;
  receivedAt: string;
}

/** Number and bytes of unclaimed uploads. */
export interface Unclaimed {
  uploads: number;
  bytes: number;
}

/**
 * Name of a row in the table of leases that remembers a deleted upload. The row outlives the process that wrote it, and is swept at its
 * end.
 */
export const removedName = (id: string): string => `removed upload ${id}`.slice(0, 128);

export const unclaimedUploads = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (id: string) =>
    db.get<UnclaimedUpload>(sql`
      SELECT id, sha3_384, sha256, size, address, received_at AS "receivedAt"
      FROM uploads WHERE id = ${id} AND package_id IS NULL`),

  /** Returns the unclaimed uploads of one client. */
  of: async (address: string): Promise<Unclaimed> =>
    (await db.get<Unclaimed>(sql`
      SELECT COUNT(*) AS uploads, COALESCE(SUM(size), 0) AS bytes FROM uploads
      WHERE address = ${address} AND package_id IS NULL`)) ?? { uploads: 0, bytes: 0 },

  /** Counts the unclaimed uploads of all clients. */
  count: async (): Promise<number> =>
    (await db.get<{ uploads: number }>(sql`SELECT COUNT(*) AS uploads FROM uploads WHERE package_id IS NULL`))
      ?.uploads ?? 0,

  /** Lists the uploads that were received before `before`, if their client has sent nothing since; see `sending`. */
  receivedBefore: ({ before, now }: { before: string; now: string }, limit: number) =>
    db.all<{ id: string; sha3_384: string }>(sql`
      SELECT id, sha3_384 FROM uploads WHERE package_id IS NULL AND received_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM passing_leases WHERE name = 'sending ' || uploads.address AND ends_at > ${now})
      LIMIT ${limit}`),

  /** Returns the oldest upload of the client with the most uploads. */
  oldestOfMost: () =>
    db.get<{ id: string; sha3_384: string; address: string }>(sql`
      SELECT id, sha3_384, address FROM uploads
      WHERE package_id IS NULL AND address = (
        SELECT address FROM uploads WHERE package_id IS NULL GROUP BY address ORDER BY COUNT(*) DESC, address LIMIT 1)
      ORDER BY received_at LIMIT 1`),
});

export const unclaimedUploadChanges = (db: Queries) => ({
  ...unclaimedUploads(db),

  add: (upload: UnclaimedUpload) =>
    db.write(sql`
      INSERT INTO uploads (id, sha3_384, sha256, size, address, received_at, seq)
      VALUES (${upload.id}, ${upload.sha3_384}, ${upload.sha256}, ${upload.size}, ${upload.address}, ${upload.receivedAt},
        (SELECT COALESCE(MAX(seq), 0) + 1 FROM uploads))`),

  /** Records that a client sends or has sent an upload: none of its uploads is deleted before `until`. */
  sending: (client: string, until: string) =>
    db.write(sql`
      INSERT INTO passing_leases (name, holder, ends_at) VALUES (${`sending ${client}`}, 'outlives upload', ${until})
      ON CONFLICT (name) DO UPDATE SET ends_at = excluded.ends_at WHERE passing_leases.ends_at < excluded.ends_at`),

  /** Remembers a deleted upload for some time, so that a late push gets an explanation. */
  rememberRemoval: (id: string, { at, hours, until }: { at: string; hours: number; until: string }) =>
    db.write(sql`
      INSERT INTO passing_leases (name, holder, ends_at)
      VALUES (${removedName(id)}, ${`outlives ${at} ${String(hours)}`}, ${until})
      ON CONFLICT (name) DO NOTHING`),

  /** Deletes an upload. Returns false if it was claimed or deleted in the meantime. */
  forget: async (id: string) => 0 < (await db.run(sql`DELETE FROM uploads WHERE id = ${id} AND package_id IS NULL`)),
});
