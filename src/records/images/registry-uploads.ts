// Pending uploads of image blobs. Each takes several requests, which may reach different processes. Ephemeral.
import { sql, type Queries, type ReadQueries } from '#engine/database.ts';

export interface RegistryUpload {
  id: string;
  repository: string;
  accountId: string | null;
  /** How many bytes were received and stored, as every process sees it. */
  size: number;
  /** The request that is sending, if any. */
  sender: string | null;
  endsAt: string;
}

/** The claim of a request to an upload while the request sends bytes. It ends at `until`, unless the request renews it. */
export interface RegistryUploadClaim {
  sender: string;
  now: string;
  until: string;
}

export const registryUploads = (db: ReadQueries) => ({
  find: (id: string, now: string) =>
    db.get<RegistryUpload>(sql`
      SELECT id, repository, account_id AS "accountId", size,
        CASE WHEN sending_until > ${now} THEN sender END AS sender, ends_at AS "endsAt"
      FROM passing_registry_uploads WHERE id = ${id} AND ends_at > ${now}`),

  /** Counts the pending uploads into one repository. */
  count: async (repository: string, now: string) =>
    (
      await db.get<{ count: number }>(sql`
      SELECT COUNT(*) AS count FROM passing_registry_uploads WHERE repository = ${repository} AND ends_at > ${now}`)
    )?.count ?? 0,

  /** Counts the pending uploads into all repositories. */
  countAll: async (now: string) =>
    (
      await db.get<{ count: number }>(sql`
      SELECT COUNT(*) AS count FROM passing_registry_uploads WHERE ends_at > ${now}`)
    )?.count ?? 0,
});

export const ephemeralRegistryUploads = (db: Queries) => ({
  ...registryUploads(db),

  begin: ({ id, repository, accountId, endsAt }: Pick<RegistryUpload, 'id' | 'repository' | 'accountId' | 'endsAt'>) =>
    db.run(sql`
      INSERT INTO passing_registry_uploads (id, repository, account_id, size, ends_at)
      VALUES (${id}, ${repository}, ${accountId}, 0, ${endsAt})`),

  /**
   * Claims an upload at its current size for a request, or renews the claim. Returns false if another request is sending, or the upload has
   * ended.
   */
  send: async (id: string, size: number, { sender, now, until }: RegistryUploadClaim, endsAt: string) =>
    0 <
    (await db.run(sql`
      UPDATE passing_registry_uploads SET sender = ${sender}, sending_until = ${until}, ends_at = ${endsAt}
      WHERE id = ${id} AND size = ${size} AND ends_at > ${now}
        AND (sender IS NULL OR sender = ${sender} OR sending_until <= ${now})`)),

  /** Records the new size after a request, and releases its claim. Returns false if the request has no claim. */
  sent: async (id: string, sender: string, { size, endsAt }: Pick<RegistryUpload, 'size' | 'endsAt'>) =>
    0 <
    (await db.run(sql`
      UPDATE passing_registry_uploads SET size = ${size}, sender = NULL, sending_until = NULL, ends_at = ${endsAt}
      WHERE id = ${id} AND sender = ${sender}`)),

  /** Ends an upload without an active request. Returns false if a request is sending, or the upload has ended. */
  end: async (id: string, now: string) =>
    0 <
    (await db.run(sql`
      DELETE FROM passing_registry_uploads WHERE id = ${id} AND (sender IS NULL OR sending_until <= ${now})`)),

  /** Abandons an upload, even if a request is sending. */
  giveUp: (id: string) => db.run(sql`DELETE FROM passing_registry_uploads WHERE id = ${id}`),

  /** Abandons all uploads. Called at start if no other process serves the store, so that no client can resume them. */
  giveUpAll: () => db.run(sql`DELETE FROM passing_registry_uploads`),

  sweep: (now: string) => db.run(sql`DELETE FROM passing_registry_uploads WHERE ends_at <= ${now}`),
});
