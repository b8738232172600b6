// Exports: what has left the host.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface Export {
  /** RFC 3339. */
  at: string;
  /** Who let it out, as the audit log writes it. */
  actor: string;
  what: 'backup' | 'audit log' | 'key request' | 'request' | 'transfer' | 'receipt';
  /** Which one: a backup's id, a key's id, the entries of the log, a transfer with its part. */
  name: string;
  /** Of the file, or of the text. */
  sha256: string;
  bytes: number;
  /** The label of this site, where it has one. */
  label: string | null;
  /** The medium, as whoever carried it calls it. */
  media: string | null;
}

const exportColumns = columns`seq, at, actor, what, name, sha256, bytes, label, media`;

export const exports = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Those from one moment up to another, the newest first, before a number; at most so many. */
  async list(from: string, to: string, before: number, limit: number): Promise<(Export & { seq: number })[]> {
    const { count } = (await db.get<{ count: number }>(sql`
      SELECT COUNT(*) AS count
      FROM (SELECT 1 FROM exports WHERE at >= ${from} AND at < ${to} LIMIT ${limit + 1}) AS found LIMIT 1`))!;
    // Few of a time are found by it, however much has left since.
    if (count <= limit)
      return db.all<Export & { seq: number }>(sql`
        SELECT ${exportColumns} FROM exports
        WHERE at >= ${from} AND at < ${to} AND seq + 0 < ${before} ORDER BY seq + 0 DESC LIMIT ${limit}`);
    // Read backwards: by their times all would be sorted.
    return db.all<Export & { seq: number }>(sql`
      SELECT ${exportColumns} FROM exports
      WHERE seq < ${before} AND at || '' >= ${from} AND at || '' < ${to} ORDER BY seq DESC LIMIT ${limit}`);
  },
});

export const exportChanges = (db: Queries) => ({
  ...exports(db),

  add: (e: Export) =>
    db.run(sql`
      INSERT INTO exports (at, actor, what, name, sha256, bytes, label, media)
      VALUES (${e.at}, ${e.actor}, ${e.what}, ${e.name}, ${e.sha256}, ${e.bytes}, ${e.label}, ${e.media})`),
});
