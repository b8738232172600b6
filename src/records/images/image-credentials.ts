// Image credentials: they allow an account to push to a repository for some time, or a client to pull from it until they are rotated.
import { columns, sql, type Queries } from '#engine/database.ts';
import type { Repository } from './images.ts';

export interface ImageCredential extends Repository {
  /** The user name. */
  id: string;
  kind: 'push' | 'pull';
  secretSha256: string;
  /** The account that pushes. */
  accountId: string | null;
  issuedAt: string;
  firstUsedAt: string | null;
  /** Namespace and name of the package, for people. */
  namespace: string;
  name: string;
}

/** A pull credential without its password. */
export interface PullCredential extends Pick<ImageCredential, 'id' | 'resource' | 'issuedAt' | 'namespace' | 'name'> {
  /** When it ends or ended; null if no end is set. */
  endsAt: string | null;
}

const credentialColumns = columns`
  credential.id, credential.package_id AS "packageId", credential.resource, credential.kind,
  credential.secret_sha256 AS "secretSha256", credential.account_id AS "accountId",
  credential.issued_at AS "issuedAt", credential.first_used_at AS "firstUsedAt", package.namespace, package.name`;

const pullColumns = columns`
  credential.id, resource, issued_at AS "issuedAt", ends_at AS "endsAt", package.namespace, package.name`;

type ImageCredentialRow = ImageCredential & { isInForce: 0 | 1 };

export const imageCredentials = (db: Pick<Queries, 'get' | 'all'>) => ({
  /**
   * Finds a credential in force. A push credential is in force only while the token that requested it is valid and the account publishes or
   * collaborates on the package, or administers the store. The caller checks its age.
   */
  async find(id: string, now: string): Promise<ImageCredential | undefined> {
    const row = await db.get<ImageCredentialRow>(sql`
      SELECT ${credentialColumns},
        (credential.kind = 'pull' AND (credential.ends_at IS NULL OR credential.ends_at > ${now})) OR (
          credential.kind = 'push' AND
          EXISTS (
            SELECT 1 FROM macaroons AS macaroon
            JOIN root_keys ON root_keys.id = macaroon.root_key_id
            JOIN accounts AS account ON account.id = macaroon.account_id
            WHERE macaroon.session_id = credential.session_id AND macaroon.revoked_at IS NULL
              AND macaroon.valid_until > ${now} AND account.disabled_at IS NULL)
          AND (
            package.publisher_id = credential.account_id
            OR EXISTS (
              SELECT 1 FROM collaborators
              WHERE collaborators.package_id = package.id AND collaborators.account_id = credential.account_id)
            OR EXISTS (SELECT 1 FROM store_administrators AS administrator WHERE administrator.account_id = credential.account_id)
          )) AS "isInForce"
      FROM image_credentials AS credential JOIN packages AS package ON package.id = credential.package_id
      WHERE credential.id = ${id}`);
    if (row === undefined) return undefined;
    const { isInForce, ...credential } = row;
    return isInForce === 1 ? credential : undefined;
  },

  /** Finds a credential, including expired and ended ones. */
  byId: (id: string) =>
    db.get<ImageCredential>(sql`
      SELECT ${credentialColumns}
      FROM image_credentials AS credential JOIN packages AS package ON package.id = credential.package_id
      WHERE credential.id = ${id}`),

  /** Returns the current pull credential of a repository, with its sealed password. */
  toPull: ({ packageId, resource }: Repository) =>
    db.get<{ id: string; sealedSecret: string }>(sql`
      SELECT id, sealed_secret AS "sealedSecret" FROM image_credentials
      WHERE package_id = ${packageId} AND resource = ${resource} AND kind = 'pull'
        AND ends_at IS NULL`),

  /** Lists pull credentials by id, beginning after the id `after`, including ended ones. */
  listToPull: (after: string, limit: number) =>
    db.all<PullCredential>(sql`
      SELECT ${pullColumns}
      FROM image_credentials AS credential JOIN packages AS package ON package.id = package_id
      WHERE credential.id > ${after} AND kind = 'pull' ORDER BY credential.id LIMIT ${limit}`),

  /** Finds a pull credential by its id. */
  pullById: (id: string) =>
    db.get<PullCredential>(sql`
      SELECT ${pullColumns}
      FROM image_credentials AS credential JOIN packages AS package ON package.id = package_id
      WHERE credential.id = ${id} AND kind = 'pull'`),

  anyEnded: async (before: string) =>
    undefined !== (await db.get(sql`SELECT 1 FROM image_credentials WHERE ends_at <= ${before} LIMIT 1`)),
});

export const imageCredentialChanges = (db: Queries) => ({
  ...imageCredentials(db),

  addToPush: (
    { packageId, resource }: Repository,
    credential: { id: string; secretSha256: string; accountId: string; sessionId: string; issuedAt: string },
  ) =>
    db.run(sql`
      INSERT INTO image_credentials (id, package_id, resource, kind, secret_sha256, account_id, session_id, issued_at)
      VALUES (${credential.id}, ${packageId}, ${resource}, 'push', ${credential.secretSha256}, ${credential.accountId},
        ${credential.sessionId}, ${credential.issuedAt})`),

  addToPull: (
    { packageId, resource }: Repository,
    credential: { id: string; secretSha256: string; sealedSecret: string; issuedAt: string },
  ) =>
    db.run(sql`
      INSERT INTO image_credentials (id, package_id, resource, kind, secret_sha256, sealed_secret, issued_at)
      VALUES (${credential.id}, ${packageId}, ${resource}, 'pull', ${credential.secretSha256}, ${credential.sealedSecret},
        ${credential.issuedAt})`),

  /** Records the first use; later uses change nothing. */
  use: (id: string, at: string) =>
    db.run(sql`UPDATE image_credentials SET first_used_at = ${at} WHERE id = ${id} AND first_used_at IS NULL`),

  /** Sets the end of a pull credential. */
  endAt: (id: string, endsAt: string) =>
    db.run(sql`UPDATE image_credentials SET ends_at = ${endsAt} WHERE id = ${id} AND kind = 'pull'`),

  /** Deletes at most `limit` pull credentials that ended before `before`. */
  forgetEnded: (before: string, limit: number) =>
    db.run(sql`
      DELETE FROM image_credentials WHERE id IN (
        SELECT id FROM image_credentials WHERE ends_at <= ${before} ORDER BY ends_at LIMIT ${limit})`),

  /** Deletes a repository's push credentials that were issued before `before`. */
  forgetIssuedBefore: ({ packageId, resource }: Repository, before: string) =>
    db.run(sql`
      DELETE FROM image_credentials
      WHERE package_id = ${packageId} AND resource = ${resource} AND kind = 'push' AND issued_at < ${before}`),
});
