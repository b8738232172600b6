// Unclaimed uploads: what anybody may have sent, and nobody has pushed to a package. They come and go without an entry in the
// audit log, which a stranger could fill for ever; an upload enters the log when somebody claims it.
import { sql, type Queries } from '#engine/database.ts';

/** Content that was received and that no package has claimed yet. */
export interface Upload {
  id: string;
  sha3_384: string;
  sha256: string;
  size: number;
  address: string;
  receivedAt: string;
}

/** What lies unclaimed. */
export interface Unclaimed {
  uploads: number;
  bytes: number;
}

/** Beginnings of names in the table of leases; both rows outlive the process that wrote them, and are swept at their end. */
export const removedName = (id: string): string => `removed upload ${id}`.slice(0, 128);

export const unclaimedUploads = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** What one client has sent. */
  of: async (address: string): Promise<Unclaimed> =>
    (await db.get<Unclaimed>(sql`
      SELECT COUNT(*) AS uploads, COALESCE(SUM(size), 0) AS bytes FROM uploads
      WHERE address = ${address} AND package_id IS NULL`)) ?? { uploads: 0, bytes: 0 },

  /** How many uploads there are of all clients together. */
  count: async (): Promise<number> =>
    (await db.get<{ uploads: number }>(sql`SELECT COUNT(*) AS uploads FROM uploads WHERE package_id IS NULL`))
      ?.uploads ?? 0,

  /** Those that were received before a moment, of clients that have sent nothing since; see `sending`. */
  receivedBefore: ({ before, now }: { before: string; now: string }, limit: number) =>
    db.all<{ id: string; sha3_384: string }>(sql`
      SELECT id, sha3_384 FROM uploads WHERE package_id IS NULL AND received_at < ${before} AND NOT EXISTS (
        SELECT 1 FROM passing_leases WHERE name = 'sending ' || uploads.address AND ends_at > ${now})
      LIMIT ${limit}`),

  /** The oldest upload of the client that has sent most. */
  oldestOfMost: () =>
    db.get<{ id: string; sha3_384: string; address: string }>(sql`
      SELECT id, sha3_384, address FROM uploads
      WHERE package_id IS NULL AND address = (
        SELECT address FROM uploads WHERE package_id IS NULL GROUP BY address ORDER BY COUNT(*) DESC, address LIMIT 1)
      ORDER BY received_at LIMIT 1`),
});

export const unclaimedUploadChanges = (db: Queries) => ({
  ...unclaimedUploads(db),

  add: (upload: Upload) =>
    db.run(sql`
      INSERT INTO uploads (id, sha3_384, sha256, size, address, received_at, seq)
      VALUES (${upload.id}, ${upload.sha3_384}, ${upload.sha256}, ${upload.size}, ${upload.address}, ${upload.receivedAt},
        (SELECT COALESCE(MAX(seq), 0) + 1 FROM uploads))`),

  /** Notes that a client is sending, or has sent, an upload: none of its uploads is deleted before `until`. */
  sending: (client: string, until: string) =>
    db.run(sql`
      INSERT INTO passing_leases (name, holder, ends_at) VALUES (${`sending ${client}`}, 'outlives upload', ${until})
      ON CONFLICT (name) DO UPDATE SET ends_at = excluded.ends_at WHERE passing_leases.ends_at < excluded.ends_at`),

  /** Remembers for a while that an upload was deleted, so that a client that pushes it late is told. */
  rememberRemoval: (id: string, { at, hours, until }: { at: string; hours: number; until: string }) =>
    db.run(sql`
      INSERT INTO passing_leases (name, holder, ends_at)
      VALUES (${removedName(id)}, ${`outlives ${at} ${String(hours)}`}, ${until})
      ON CONFLICT (name) DO NOTHING`),

  /** False when it was claimed meanwhile, or forgotten. */
  forget: async (id: string) => 0 < (await db.run(sql`DELETE FROM uploads WHERE id = ${id} AND package_id IS NULL`)),
});
