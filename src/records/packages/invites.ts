// Invites: accounts that were asked to collaborate on a package, and their replies.
import type { PackageNamespace } from '#domain/packages/namespace.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

export interface Invite {
  /** SHA-256 of the token, in hexadecimal. Only the invited person has the token itself. */
  tokenSha256: string;
  packageId: string;
  accountId: string;
  /** The address as the publisher wrote it. */
  email: string;
  createdAt: string;
  createdBy: string;
  expiresAt: string;
  acceptedAt: string | null;
  revokedAt: string | null;
  revokedBy: string | null;
}

/** An invite as the holder of its token sees it. */
export interface ShownInvite {
  namespace: string;
  name: string;
  /** User name and display name of the inviting account. */
  inviter: string;
  inviterName: string;
  /** User name of the invited account. */
  username: string;
  email: string;
  expiresAt: string;
}

/** An invite with its package. */
export interface InviteToPackage extends Pick<Invite, 'packageId' | 'createdAt' | 'createdBy' | 'expiresAt'> {
  namespace: PackageNamespace;
  name: string;
  type: string;
  /** User name of the inviting account. */
  username: string;
}

export type NewInvite = Omit<Invite, 'acceptedAt' | 'revokedAt' | 'revokedBy'>;

const inviteColumns = columns`
  token_sha256 AS "tokenSha256", package_id AS "packageId", account_id AS "accountId", email,
  created_at AS "createdAt", created_by AS "createdBy", expires_at AS "expiresAt", accepted_at AS "acceptedAt",
  revoked_at AS "revokedAt", revoked_by AS "revokedBy"`;

export const invites = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Finds the open invite with this token, to this package, for this account. */
  pending: (lookup: { tokenSha256: string; packageId: string; accountId: string; now: string }) =>
    db.get<Invite>(sql`
      SELECT ${inviteColumns}
      FROM invites
      WHERE token_sha256 = ${lookup.tokenSha256} AND package_id = ${lookup.packageId}
        AND account_id = ${lookup.accountId} AND expires_at > ${lookup.now}
        AND accepted_at IS NULL AND revoked_at IS NULL`),

  /** Finds the open invite of an account to a package; there is at most one. */
  open: ({ packageId, accountId, now }: { packageId: string; accountId: string; now: string }) =>
    db.get<Invite>(sql`
      SELECT ${inviteColumns}
      FROM invites
      WHERE package_id = ${packageId} AND account_id = ${accountId} AND expires_at > ${now}
        AND accepted_at IS NULL AND revoked_at IS NULL`),

  /** Lists the open invites of an account by package id, beginning after the id `after`. */
  to: (accountId: string, now: string, after: string, limit: number) =>
    db.all<InviteToPackage>(sql`
      SELECT package_id AS "packageId", invites.created_at AS "createdAt", created_by AS "createdBy",
        expires_at AS "expiresAt", package.namespace, package.name, package.type, inviter.username
      FROM invites
      JOIN packages AS package ON package.id = package_id
      JOIN accounts AS inviter ON inviter.id = created_by
      WHERE account_id = ${accountId} AND package_id > ${after} AND expires_at > ${now}
        AND accepted_at IS NULL AND revoked_at IS NULL
      ORDER BY package_id LIMIT ${limit}`),

  /** Finds the open invite with this token, with the names of both accounts. */
  shown: (tokenSha256: string, now: string) =>
    db.get<ShownInvite>(sql`
      SELECT package.namespace, package.name, inviter.username AS inviter, inviter.display_name AS "inviterName",
        invited.username, invites.email, expires_at AS "expiresAt"
      FROM invites
      JOIN packages AS package ON package.id = package_id
      JOIN accounts AS inviter ON inviter.id = created_by
      JOIN accounts AS invited ON invited.id = account_id
      WHERE token_sha256 = ${tokenSha256} AND expires_at > ${now} AND accepted_at IS NULL AND revoked_at IS NULL`),

  /** Lists a package's invites, newest first. */
  list: (packageId: string, limit: number) =>
    db.all<Invite>(sql`
      SELECT ${inviteColumns}
      FROM invites WHERE package_id = ${packageId}
      ORDER BY created_at DESC, seq DESC LIMIT ${limit}`),

  /** Lists a package's open invites, newest first. */
  listPending: (packageId: string, now: string) =>
    db.all<Invite>(sql`
      SELECT ${inviteColumns}
      FROM invites
      WHERE package_id = ${packageId} AND accepted_at IS NULL AND revoked_at IS NULL AND expires_at > ${now}
      ORDER BY created_at DESC, seq DESC`),

  anyEnded: async (before: string) =>
    undefined !==
    (await db.get(sql`SELECT 1 FROM invites WHERE expires_at <= ${before} AND accepted_at IS NULL LIMIT 1`)),
});

export const inviteChanges = (db: Queries) => ({
  ...invites(db),

  /** Adds an invite. It replaces an open invite of the account to the package, and invalidates the token of that one. */
  async add(i: NewInvite) {
    await db.run(sql`
      DELETE FROM invites
      WHERE package_id = ${i.packageId} AND account_id = ${i.accountId} AND accepted_at IS NULL AND revoked_at IS NULL`);
    await db.run(sql`
      INSERT INTO invites (token_sha256, package_id, account_id, email, created_at, created_by, expires_at, seq)
      VALUES (${i.tokenSha256}, ${i.packageId}, ${i.accountId}, ${i.email}, ${i.createdAt}, ${i.createdBy}, ${i.expiresAt},
        (SELECT COALESCE(MAX(seq), 0) + 1 FROM invites))`);
  },

  /** Removes the open invite of an account to a package, if there is one. */
  removeOpen: (packageId: string, accountId: string) =>
    db.run(sql`
      DELETE FROM invites
      WHERE package_id = ${packageId} AND account_id = ${accountId} AND accepted_at IS NULL AND revoked_at IS NULL`),

  accept: (tokenSha256: string, at: string) =>
    db.run(sql`
      UPDATE invites SET accepted_at = ${at}
      WHERE token_sha256 = ${tokenSha256} AND accepted_at IS NULL AND revoked_at IS NULL`),

  /** Revokes an invite, for the publisher or the invited account. */
  revoke: (tokenSha256: string, revoked: { at: string; actor: string }) =>
    db.run(sql`
      UPDATE invites SET revoked_at = ${revoked.at}, revoked_by = ${revoked.actor}
      WHERE token_sha256 = ${tokenSha256} AND accepted_at IS NULL AND revoked_at IS NULL`),

  /** Deletes invites that expired without being accepted. */
  forgetEnded: (before: string, limit: number) =>
    db.run(sql`
      DELETE FROM invites WHERE token_sha256 IN (
        SELECT token_sha256 FROM invites WHERE expires_at <= ${before} AND accepted_at IS NULL
        ORDER BY expires_at LIMIT ${limit})`),
});
