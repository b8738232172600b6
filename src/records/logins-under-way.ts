// Logins under way, the tokens that prove one that is finished, and the codes in their place. They pass. What lets
// somebody in is known by its digest here, or sealed.
import { columns, sql, type Queries, type Reading } from '#engine/database.ts';

export interface LoginUnderWay {
  /** Digests of what the browser and the client know it by. */
  id: string;
  waitId: string;
  /** Who began it. */
  client: string;
  /** What it is for, sealed. */
  about: string;
  endsAt: string;
}

export interface LoginFound extends LoginUnderWay {
  /** The account whose password was right. */
  halfway: string | null;
  /** When that password was set. */
  passwordSetAt: string | null;
  /** The account that has logged in, and the token that proves it, sealed; nothing before it is finished. */
  accountId: string | null;
  token: string | null;
}

/** What a token proves: that this account logged in, and for which caveat if for a single one: digests. */
export interface LoginProof {
  digest: string;
  accountId: string;
  caveat: string | null;
  endsAt: string;
}

const loginColumns = columns`
  id, wait_id AS "waitId", client, about, halfway,
  password_set_at AS "passwordSetAt", account_id AS "accountId", token, ends_at AS "endsAt"`;

export const loginsUnderWay = (db: Reading) => ({
  /** The one that the browser knows, while it lasts. */
  find: (id: string, now: string) =>
    db.get<LoginFound>(sql`
      SELECT ${loginColumns}
      FROM passing_logins WHERE id = ${id} AND ends_at > ${now}`),

  /** The one that the client waits for, while it lasts. */
  awaited: (waitId: string, now: string) =>
    db.get<LoginFound>(sql`
      SELECT ${loginColumns}
      FROM passing_logins WHERE wait_id = ${waitId} AND ends_at > ${now}`),

  proof: (digest: string, now: string) =>
    db.get<LoginProof>(sql`
      SELECT digest, account_id AS "accountId", caveat, ends_at AS "endsAt"
      FROM passing_proofs WHERE digest = ${digest} AND ends_at > ${now}`),

  code: async (digest: string, now: string) =>
    (
      await db.get<{ token: string }>(sql`
      SELECT token FROM passing_codes WHERE digest = ${digest} AND ends_at > ${now}`)
    )?.token,

  /** How many one client has under way, and how long what they are for is together. */
  of: async (client: string, now: string): Promise<{ count: number; size: number }> =>
    (await db.get<{ count: number; size: number }>(sql`
      SELECT COUNT(*) AS count, COALESCE(SUM(size), 0) AS size
      FROM passing_logins WHERE client = ${client} AND ends_at > ${now}`)) ?? { count: 0, size: 0 },

  /** Whether as many as that are under way. */
  reaches: async (count: number, now: string) =>
    undefined !==
    (await db.get(
      sql`SELECT 1 FROM passing_logins WHERE ends_at > ${now} ORDER BY ends_at LIMIT 1 OFFSET ${count - 1}`,
    )),
});

export const loginPassing = (db: Queries) => ({
  ...loginsUnderWay(db),

  begin: (login: LoginUnderWay) =>
    db.run(sql`
      INSERT INTO passing_logins (id, wait_id, client, about, size, ends_at)
      VALUES (${login.id}, ${login.waitId}, ${login.client}, ${login.about}, ${login.about.length}, ${login.endsAt})`),

  /** Notes whose password was right; false when it is finished, or has ended. */
  halfway: async (id: string, account: { id: string; passwordSetAt: string }, now: string) =>
    0 <
    (await db.run(sql`
      UPDATE passing_logins SET halfway = ${account.id}, password_set_at = ${account.passwordSetAt}
      WHERE id = ${id} AND account_id IS NULL AND ends_at > ${now}`)),

  /** Notes who has logged in; false when somebody has already, or it has ended. */
  finish: async (id: string, { accountId, token, now }: { accountId: string; token: string; now: string }) =>
    0 <
    (await db.run(sql`
      UPDATE passing_logins SET account_id = ${accountId}, token = ${token}
      WHERE id = ${id} AND account_id IS NULL AND ends_at > ${now}`)),

  addProof: (proof: LoginProof) =>
    db.run(sql`
      INSERT INTO passing_proofs (digest, account_id, caveat, ends_at)
      VALUES (${proof.digest}, ${proof.accountId}, ${proof.caveat}, ${proof.endsAt})`),

  /** Uses a proof up; false when it was used before. */
  useProof: async (digest: string) => 0 < (await db.run(sql`DELETE FROM passing_proofs WHERE digest = ${digest}`)),

  /** Keeps so many proofs: the oldest goes first. */
  boundProofs: (most: number) =>
    db.run(sql`
      DELETE FROM passing_proofs WHERE seq <= (
        SELECT seq FROM passing_proofs ORDER BY seq DESC LIMIT 1 OFFSET ${most})`),

  /** A code for a token, which is sealed. */
  addCode: (digest: string, token: string, endsAt: string) =>
    db.run(sql`INSERT INTO passing_codes (digest, token, ends_at) VALUES (${digest}, ${token}, ${endsAt})`),

  /** Uses a code up; false when it was used before. */
  useCode: async (digest: string) => 0 < (await db.run(sql`DELETE FROM passing_codes WHERE digest = ${digest}`)),

  boundCodes: (most: number) =>
    db.run(sql`
      DELETE FROM passing_codes WHERE seq <= (
        SELECT seq FROM passing_codes ORDER BY seq DESC LIMIT 1 OFFSET ${most})`),

  sweep: async (now: string) =>
    (await db.run(sql`DELETE FROM passing_logins WHERE ends_at <= ${now}`)) +
    (await db.run(sql`DELETE FROM passing_proofs WHERE ends_at <= ${now}`)) +
    (await db.run(sql`DELETE FROM passing_codes WHERE ends_at <= ${now}`)),
});
