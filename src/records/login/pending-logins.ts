// Pending logins, the proofs of finished ones, and the codes that stand for tokens. All are ephemeral. Secrets are stored as digests or
// sealed.
import { columns, sql, type Queries, type ReadQueries } from '#engine/database.ts';
import type { LoginProofKind } from '../tokens/macaroons.ts';

export interface PendingLogin {
  /** Digests of the ids that the browser and the client use. */
  id: string;
  waitId: string;
  /** The client that began it. */
  client: string;
  /** The purpose of the login, sealed. */
  about: string;
  endsAt: string;
}

export interface PendingLoginState extends PendingLogin {
  /** The account with a verified password and a missing one-time password; null before the password is verified. */
  halfway: string | null;
  /** When the verified password was set: if it was changed since, the login must start again. */
  passwordSetAt: string | null;
  /** The account that has logged in, and the sealed token that proves it; null until the login is finished. */
  accountId: string | null;
  token: string | null;
}

/** The proof that this account logged in; with `caveat`, for one caveat only. The digest and the caveat are digests. */
export interface LoginProof {
  digest: string;
  accountId: string;
  caveat: string | null;
  provenBy: LoginProofKind | null;
  endsAt: string;
}

const loginColumns = columns`
  id, wait_id AS "waitId", client, about, halfway,
  password_set_at AS "passwordSetAt", account_id AS "accountId", token, ends_at AS "endsAt"`;

export const pendingLogins = (db: ReadQueries) => ({
  /** Finds the unexpired login with this id of the browser. */
  find: (id: string, now: string) =>
    db.get<PendingLoginState>(sql`
      SELECT ${loginColumns}
      FROM passing_logins WHERE id = ${id} AND ends_at > ${now}`),

  /** Finds the unexpired login with this id of the client. */
  awaited: (waitId: string, now: string) =>
    db.get<PendingLoginState>(sql`
      SELECT ${loginColumns}
      FROM passing_logins WHERE wait_id = ${waitId} AND ends_at > ${now}`),

  proof: (digest: string, now: string) =>
    db.get<LoginProof>(sql`
      SELECT digest, account_id AS "accountId", caveat, proven_by AS "provenBy", ends_at AS "endsAt"
      FROM passing_proofs WHERE digest = ${digest} AND ends_at > ${now}`),

  code: async (digest: string, now: string) =>
    (
      await db.get<{ token: string }>(sql`
      SELECT token FROM passing_codes WHERE digest = ${digest} AND ends_at > ${now}`)
    )?.token,

  /** Returns how many pending logins a client has, and the total length of their purposes. */
  of: async (client: string, now: string): Promise<{ count: number; size: number }> =>
    (await db.get<{ count: number; size: number }>(sql`
      SELECT COUNT(*) AS count, COALESCE(SUM(size), 0) AS size
      FROM passing_logins WHERE client = ${client} AND ends_at > ${now}`)) ?? { count: 0, size: 0 },

  /** Returns whether at least `count` logins are pending. */
  reaches: async (count: number, now: string) =>
    undefined !==
    (await db.get(
      sql`SELECT 1 FROM passing_logins WHERE ends_at > ${now} ORDER BY ends_at LIMIT 1 OFFSET ${count - 1}`,
    )),
});

export const ephemeralLogins = (db: Queries) => ({
  ...pendingLogins(db),

  begin: (login: PendingLogin) =>
    db.run(sql`
      INSERT INTO passing_logins (id, wait_id, client, about, size, ends_at)
      VALUES (${login.id}, ${login.waitId}, ${login.client}, ${login.about}, ${login.about.length}, ${login.endsAt})`),

  /** Records the account with the correct password. Returns false if the login is finished or has expired. */
  halfway: async (id: string, account: { id: string; passwordSetAt: string }, now: string) =>
    0 <
    (await db.run(sql`
      UPDATE passing_logins SET halfway = ${account.id}, password_set_at = ${account.passwordSetAt}
      WHERE id = ${id} AND account_id IS NULL AND ends_at > ${now}`)),

  /** Records the account that has logged in. Returns false if the login is finished already or has expired. */
  finish: async (id: string, { accountId, token, now }: { accountId: string; token: string; now: string }) =>
    0 <
    (await db.run(sql`
      UPDATE passing_logins SET account_id = ${accountId}, token = ${token}
      WHERE id = ${id} AND account_id IS NULL AND ends_at > ${now}`)),

  addProof: (proof: LoginProof) =>
    db.run(sql`
      INSERT INTO passing_proofs (digest, account_id, caveat, proven_by, ends_at)
      VALUES (${proof.digest}, ${proof.accountId}, ${proof.caveat}, ${proof.provenBy}, ${proof.endsAt})`),

  /** Uses a proof. Returns false if it was used before. */
  useProof: async (digest: string) => 0 < (await db.run(sql`DELETE FROM passing_proofs WHERE digest = ${digest}`)),

  /** Keeps the newest `maxProofs` proofs, and removes the older ones. */
  boundProofs: (maxProofs: number) =>
    db.run(sql`
      DELETE FROM passing_proofs WHERE seq <= (
        SELECT seq FROM passing_proofs ORDER BY seq DESC LIMIT 1 OFFSET ${maxProofs})`),

  /** Adds a code for a sealed token. */
  addCode: (digest: string, token: string, endsAt: string) =>
    db.run(sql`INSERT INTO passing_codes (digest, token, ends_at) VALUES (${digest}, ${token}, ${endsAt})`),

  /** Uses a code. Returns false if it was used before. */
  useCode: async (digest: string) => 0 < (await db.run(sql`DELETE FROM passing_codes WHERE digest = ${digest}`)),

  boundCodes: (maxCodes: number) =>
    db.run(sql`
      DELETE FROM passing_codes WHERE seq <= (
        SELECT seq FROM passing_codes ORDER BY seq DESC LIMIT 1 OFFSET ${maxCodes})`),

  sweep: async (now: string) =>
    (await db.run(sql`DELETE FROM passing_logins WHERE ends_at <= ${now}`)) +
    (await db.run(sql`DELETE FROM passing_proofs WHERE ends_at <= ${now}`)) +
    (await db.run(sql`DELETE FROM passing_codes WHERE ends_at <= ${now}`)),
});
