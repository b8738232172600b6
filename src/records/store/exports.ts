// Exports: the files that left the host.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface Export {
  /** RFC 3339. */
  at: string;
  /** The account that made the export, in the form of the audit log. */
  actor: string;
  what: 'backup' | 'audit log' | 'key request' | 'request' | 'transfer' | 'receipt';
  /** The id of a backup or key, the entries of the log, or a transfer with its part. */
  name: string;
  /** Digest of the file or the text. */
  sha256: string;
  bytes: number;
  /** The label of this site, if it has one. */
  label: string | null;
  /** The name that the carrier gave to the medium. */
  media: string | null;
}

const exportColumns = columns`seq, at, actor, what, name, sha256, bytes, label, media`;

export const exports = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists the exports between two times, newest first, before a number. */
  async list(from: string, to: string, before: number, limit: number): Promise<(Export & { seq: number })[]> {
    const { count } = (await db.get<{ count: number }>(sql`
      SELECT COUNT(*) AS count
      FROM (SELECT 1 FROM exports WHERE at >= ${from} AND at < ${to} LIMIT ${limit + 1}) AS found LIMIT 1`))!;
    // If the time span has few exports, the index of times finds them fast.
    if (count <= limit)
      return db.all<Export & { seq: number }>(sql`
        SELECT ${exportColumns} FROM exports
        WHERE at >= ${from} AND at < ${to} AND seq + 0 < ${before} ORDER BY seq + 0 DESC LIMIT ${limit}`);
    // Read backwards by number: the index of times would have to sort all rows.
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
