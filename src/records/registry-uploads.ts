// Blobs of images on their way, each in several requests that may come to different processes. They pass.
import { sql, type Queries, type Reading } from '#engine/database.ts';

export interface RegistryUpload {
  id: string;
  repository: string;
  accountId: string | null;
  /** How many bytes have come, and lie where every process finds them. */
  size: number;
  /** Which request is sending, if one is. */
  sender: string | null;
  endsAt: string;
}

/** A request that sends, and until when that counts unless it says that it goes on. */
export interface Sending {
  sender: string;
  now: string;
  until: string;
}

export const registryUploads = (db: Reading) => ({
  find: (id: string, now: string) =>
    db.get<RegistryUpload>(sql`
      SELECT id, repository, account_id AS "accountId", size,
        CASE WHEN sending_until > ${now} THEN sender END AS sender, ends_at AS "endsAt"
      FROM passing_registry_uploads WHERE id = ${id} AND ends_at > ${now}`),

  /** How many are under way into one repository. */
  count: async (repository: string, now: string) =>
    (
      await db.get<{ count: number }>(sql`
      SELECT COUNT(*) AS count FROM passing_registry_uploads WHERE repository = ${repository} AND ends_at > ${now}`)
    )?.count ?? 0,

  /** How many are under way into all repositories. */
  countAll: async (now: string) =>
    (
      await db.get<{ count: number }>(sql`
      SELECT COUNT(*) AS count FROM passing_registry_uploads WHERE ends_at > ${now}`)
    )?.count ?? 0,
});

export const registryUploadPassing = (db: Queries) => ({
  ...registryUploads(db),

  begin: ({ id, repository, accountId, endsAt }: Pick<RegistryUpload, 'id' | 'repository' | 'accountId' | 'endsAt'>) =>
    db.run(sql`
      INSERT INTO passing_registry_uploads (id, repository, account_id, size, ends_at)
      VALUES (${id}, ${repository}, ${accountId}, 0, ${endsAt})`),

  /** Begins to send from where the upload stands, or goes on with that; false when another request does, or it has ended. */
  send: async (id: string, size: number, { sender, now, until }: Sending, endsAt: string) =>
    0 <
    (await db.run(sql`
      UPDATE passing_registry_uploads SET sender = ${sender}, sending_until = ${until}, ends_at = ${endsAt}
      WHERE id = ${id} AND size = ${size} AND ends_at > ${now}
        AND (sender IS NULL OR sender = ${sender} OR sending_until <= ${now})`)),

  /** Says how much has come when a request has sent; false when it is not the one that sends. */
  sent: async (id: string, sender: string, { size, endsAt }: Pick<RegistryUpload, 'size' | 'endsAt'>) =>
    0 <
    (await db.run(sql`
      UPDATE passing_registry_uploads SET size = ${size}, sender = NULL, sending_until = NULL, ends_at = ${endsAt}
      WHERE id = ${id} AND sender = ${sender}`)),

  /** Ends one that nobody is sending to; false when somebody is, or it has ended. */
  end: async (id: string, now: string) =>
    0 <
    (await db.run(sql`
      DELETE FROM passing_registry_uploads WHERE id = ${id} AND (sender IS NULL OR sending_until <= ${now})`)),

  /** Gives one up, whoever is sending to it. */
  giveUp: (id: string) => db.run(sql`DELETE FROM passing_registry_uploads WHERE id = ${id}`),

  /** Gives up all, with whose bytes nobody goes on. */
  giveUpAll: () => db.run(sql`DELETE FROM passing_registry_uploads`),

  sweep: (now: string) => db.run(sql`DELETE FROM passing_registry_uploads WHERE ends_at <= ${now}`),
});
