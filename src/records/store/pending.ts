// Counts the objects that wait for people, for the console, 'larder status', 'larder doctor' and the metrics.
import { sql, type Queries } from '#engine/database.ts';

/** How many objects of each kind wait for a person, apart from uploads. */
export interface PendingCounts {
  proposals: number;
  /** Transfers that were received and neither accepted nor discarded. */
  transfers: number;
  /** Requests to register a key at the online store; some may be answered already. */
  keyRequests: number;
  /** Rollouts that are paused. */
  rollouts: number;
}

export const pending = (db: Pick<Queries, 'get'>) => ({
  /** Counts the uploads that the review left to a person. Separate, because they are many in a large store, and cached. */
  countUploads: async (): Promise<number> =>
    (await db.get<{ uploads: number }>(sql`
      SELECT count(*) AS uploads FROM uploads WHERE status = 'scanned' AND status IN ('new', 'scanned')`))!.uploads,

  /** Returns the other counts at a time, RFC 3339. */
  counts: async (now: string): Promise<PendingCounts> =>
    (await db.get<PendingCounts>(sql`
      SELECT
        (SELECT count(*) FROM proposals WHERE state = 'open' AND ends_at > ${now}) AS proposals,
        (SELECT count(*) FROM transfers WHERE status = 'waiting') AS transfers,
        (SELECT count(*) FROM signing_keys WHERE requested_at IS NOT NULL) AS "keyRequests",
        (SELECT count(*) FROM rollouts WHERE state = 'paused' AND state IN ('running', 'paused')) AS rollouts`))!,
});
