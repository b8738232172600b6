// After review: what somebody wants done with an upload once it is a revision, and what came of it.
import { columns, sql, type Queries } from '#engine/database.ts';
import type { ReviewError } from './uploads.ts';

/** One thing that is wanted: a component that is to come beside the revision, or a channel that is to hold it. */
export interface Wish {
  uploadId: string;
  kind: 'component' | 'channel';
  /** The component's name, or the channel as it was written. */
  name: string;
  /** The upload with the component's content. */
  component: string | null;
  /** Whether a channel keeps what it holds when that is as new. */
  onlyIfNewer: boolean;
  /** As the audit log writes it. */
  wantedBy: string;
  sessionId: string | null;
  requestId: string | null;
  settled: boolean;
  /** Why it was not done, or not yet. */
  error: ReviewError | null;
}

type Row = Omit<Wish, 'onlyIfNewer' | 'settled' | 'error'> & {
  onlyIfNewer: 0 | 1;
  settled: 0 | 1;
  error: string | null;
};

const wishColumns = columns`upload_id AS "uploadId", kind, name, component, only_if_newer AS "onlyIfNewer",
  wanted_by AS "wantedBy", session_id AS "sessionId", request_id AS "requestId", settled, error`;

const asWish = (row: Row): Wish => ({
  ...row,
  onlyIfNewer: row.onlyIfNewer === 1,
  settled: row.settled === 1,
  error: JSON.parse(row.error ?? 'null') as ReviewError | null,
});

export const afterReview = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** All that was wanted of an upload, its components first. */
  of: async (uploadId: string) =>
    (
      await db.all<Row>(
        sql`SELECT ${wishColumns} FROM after_review WHERE upload_id = ${uploadId} ORDER BY kind DESC, name`,
      )
    ).map(asWish),

  /** The approved uploads after one, in order, with which something is still to be done. */
  due: (after: string, limit: number) =>
    db.all<{ id: string; packageId: string; revision: number }>(sql`
      SELECT DISTINCT uploads.id, uploads.package_id AS "packageId", uploads.revision
      FROM after_review JOIN uploads ON uploads.id = upload_id
      WHERE settled = 0 AND upload_id > ${after} AND uploads.status = 'approved'
      ORDER BY uploads.id LIMIT ${limit}`),
});

export const afterReviewChanges = (db: Queries) => ({
  ...afterReview(db),

  /** Adds what is not wanted yet. */
  add: (wish: Omit<Wish, 'settled' | 'error'>) =>
    db.run(sql`
      INSERT INTO after_review (upload_id, kind, name, component, only_if_newer, wanted_by, session_id, request_id)
      VALUES (${wish.uploadId}, ${wish.kind}, ${wish.name}, ${wish.component}, ${Number(wish.onlyIfNewer)},
        ${wish.wantedBy}, ${wish.sessionId}, ${wish.requestId})
      ON CONFLICT (upload_id, kind, name) DO NOTHING`),

  /** Says why it is not done yet. */
  hold: ({ uploadId, kind, name }: Pick<Wish, 'uploadId' | 'kind' | 'name'>, why: ReviewError) =>
    db.run(sql`
      UPDATE after_review SET error = ${JSON.stringify(why)}
      WHERE upload_id = ${uploadId} AND kind = ${kind} AND name = ${name} AND settled = 0`),

  /** Says that it is done, or why not; false when that was said before. */
  settle: async ({ uploadId, kind, name }: Pick<Wish, 'uploadId' | 'kind' | 'name'>, error: ReviewError | null) =>
    0 <
    (await db.run(sql`
      UPDATE after_review SET settled = 1, error = ${error && JSON.stringify(error)}
      WHERE upload_id = ${uploadId} AND kind = ${kind} AND name = ${name} AND settled = 0`)),
});
