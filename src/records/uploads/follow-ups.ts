// Follow-ups: the steps to take when an upload has become a revision, and their results.
import { columns, sql, type Queries } from '#engine/database.ts';
import type { UploadReviewError } from './uploads.ts';

/** One follow-up: a component to publish with the revision, or a channel to release it to. */
export interface FollowUp {
  uploadId: string;
  kind: 'component' | 'channel';
  /** The name of the component, or the channel as it was written. */
  name: string;
  /** The upload with the content of the component. */
  component: string | null;
  /** Whether to skip the release if the channel holds a revision that is as new. */
  onlyIfNewer: boolean;
  /** The actor that requested the follow-up, as in the audit log: an account id or `cli:<user>`. */
  wantedBy: string;
  sessionId: string | null;
  requestId: string | null;
  settled: boolean;
  /** Why the step failed, or why it has to wait. */
  error: UploadReviewError | null;
}

type FollowUpRow = Omit<FollowUp, 'onlyIfNewer' | 'settled' | 'error'> & {
  onlyIfNewer: 0 | 1;
  settled: 0 | 1;
  error: string | null;
};

const followUpColumns = columns`upload_id AS "uploadId", kind, name, component, only_if_newer AS "onlyIfNewer",
  wanted_by AS "wantedBy", session_id AS "sessionId", request_id AS "requestId", settled, error`;

const asFollowUp = (row: FollowUpRow): FollowUp => ({
  ...row,
  onlyIfNewer: row.onlyIfNewer === 1,
  settled: row.settled === 1,
  error: JSON.parse(row.error ?? 'null') as UploadReviewError | null,
});

export const followUps = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Lists all follow-ups of an upload, components first. */
  of: async (uploadId: string) =>
    (
      await db.all<FollowUpRow>(
        sql`SELECT ${followUpColumns} FROM after_review WHERE upload_id = ${uploadId} ORDER BY kind DESC, name`,
      )
    ).map(asFollowUp),

  /** Lists approved uploads with open follow-ups, by id, beginning after the id `after`. */
  due: (after: string, limit: number) =>
    db.all<{ id: string; packageId: string; revision: number }>(sql`
      SELECT DISTINCT uploads.id, uploads.package_id AS "packageId", uploads.revision
      FROM after_review JOIN uploads ON uploads.id = upload_id
      WHERE settled = 0 AND upload_id > ${after} AND uploads.status = 'approved'
      ORDER BY uploads.id LIMIT ${limit}`),
});

export const followUpChanges = (db: Queries) => ({
  ...followUps(db),

  /** Adds a follow-up unless it exists. */
  add: (followUp: Omit<FollowUp, 'settled' | 'error'>) =>
    db.write(sql`
      INSERT INTO after_review (upload_id, kind, name, component, only_if_newer, wanted_by, session_id, request_id)
      VALUES (${followUp.uploadId}, ${followUp.kind}, ${followUp.name}, ${followUp.component}, ${Number(followUp.onlyIfNewer)},
        ${followUp.wantedBy}, ${followUp.sessionId}, ${followUp.requestId})
      ON CONFLICT (upload_id, kind, name) DO NOTHING`),

  /** Records why a follow-up has to wait. */
  hold: ({ uploadId, kind, name }: Pick<FollowUp, 'uploadId' | 'kind' | 'name'>, reason: UploadReviewError) =>
    db.write(sql`
      UPDATE after_review SET error = ${JSON.stringify(reason)}
      WHERE upload_id = ${uploadId} AND kind = ${kind} AND name = ${name} AND settled = 0`),

  /** Marks a follow-up as done, or as failed with an error. Returns false if it was settled before. */
  settle: async (
    { uploadId, kind, name }: Pick<FollowUp, 'uploadId' | 'kind' | 'name'>,
    error: UploadReviewError | null,
  ) =>
    0 <
    (await db.run(sql`
      UPDATE after_review SET settled = 1, error = ${error && JSON.stringify(error)}
      WHERE upload_id = ${uploadId} AND kind = ${kind} AND name = ${name} AND settled = 0`)),
});
