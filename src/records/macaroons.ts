// Macaroons: a row for each token issued, and for each session of a browser, so that it can be listed and revoked.
import { columns, list, sql, type Queries } from '#engine/database.ts';

/** What a macaroon is: a token of a tool, or somebody's session in the console. */
export type MacaroonKind = 'token' | 'console';

export interface Macaroon {
  sessionId: string;
  accountId: string;
  rootKeyId: string;
  kind: MacaroonKind;
  description: string | null;
  validSince: string;
  validUntil: string;
  revokedAt: string | null;
  revokedBy: string | null;
}

/** A session that begins. */
export interface NewMacaroon extends Omit<Macaroon, 'kind' | 'revokedAt' | 'revokedBy'> {
  /** Nothing where it is a token. */
  kind?: MacaroonKind;
  /** What narrows the token: a JSON list of conditions; nothing where that is not known. */
  conditions?: string | null;
}

/** A macaroon with the name of whose it is, and when it was last used, to the minute. */
export interface OwnedMacaroon extends Macaroon {
  username: string;
  lastUsedAt: string | null;
  /** What narrows the token: a JSON list of conditions; null where that is not known, and for a session of a browser. */
  conditions: string | null;
}

/** By what tokens can be sorted; `-` turns it round. */
export type TokenOrder = `${'' | '-'}${'whose' | 'since' | 'until' | 'used'}`;

/** So many are sorted, by another order than their own. */
const mostSorted = 20_000;

/** A session in force, with the account it belongs to. */
export interface Session {
  accountId: string;
  username: string;
  displayName: string;
  email: string;
  validation: string;
  storeAdministrator: 0 | 1;
  /** Whether the account has a one-time password. */
  hasTotp: 0 | 1;
  /** When it ends, with another one in its place; null where there is none. */
  replacedUntil: string | null;
}

const macaroonColumns = columns`
  session_id AS "sessionId", account_id AS "accountId", root_key_id AS "rootKeyId", kind, description,
  valid_since AS "validSince", valid_until AS "validUntil", revoked_at AS "revokedAt", revoked_by AS "revokedBy"`;

const issuedColumns = columns`
  session_id, account_id, root_key_id, kind, description, valid_since, valid_until, conditions`;

/** Those of a macaroon with its owner and its last use. */
const ownedColumns = columns`
  session_id AS "sessionId", account_id AS "accountId", root_key_id AS "rootKeyId", macaroons.kind, description,
  valid_since AS "validSince", valid_until AS "validUntil", revoked_at AS "revokedAt", revoked_by AS "revokedBy",
  accounts.username, used.last_at AS "lastUsedAt", conditions`;

export const macaroons = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** The account of a session that is neither revoked, nor signed with a root key that is gone, nor of a disabled account. */
  session: (sessionId: string, rootKeyId: string) =>
    db.get<Session>(sql`
      SELECT account.id AS "accountId", account.username, account.display_name AS "displayName", account.email,
        account.validation, CASE WHEN administrator.account_id IS NULL THEN 0 ELSE 1 END AS "storeAdministrator",
        CASE WHEN totp.account_id IS NULL THEN 0 ELSE 1 END AS "hasTotp",
        CASE WHEN macaroon.replaced_by IS NULL THEN NULL ELSE macaroon.valid_until END AS "replacedUntil"
      FROM macaroons AS macaroon
      JOIN root_keys ON root_keys.id = macaroon.root_key_id
      JOIN accounts AS account ON account.id = macaroon.account_id
      LEFT JOIN store_administrators AS administrator ON administrator.account_id = account.id
      LEFT JOIN totp_secrets AS totp ON totp.account_id = account.id
      WHERE macaroon.session_id = ${sessionId} AND macaroon.root_key_id = ${rootKeyId}
        AND macaroon.revoked_at IS NULL AND account.disabled_at IS NULL`),

  /** Whether a session is none only because its account is disabled. */
  isOfDisabledAccount: async (sessionId: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM macaroons JOIN accounts ON accounts.id = account_id
      WHERE session_id = ${sessionId} AND revoked_at IS NULL AND disabled_at IS NOT NULL`)),

  /** Until when a session lasts; nothing when there is none of it. */
  validUntil: async (sessionId: string) =>
    (
      await db.get<{ validUntil: string }>(sql`
        SELECT valid_until AS "validUntil" FROM macaroons WHERE session_id = ${sessionId}`)
    )?.validUntil,

  /** An account's macaroons, oldest first; inactive ones, revoked or expired by `now`, only when asked for. */
  list: (accountId: string, now: string, includeInactive: boolean) =>
    db.all<Macaroon>(sql`
      SELECT ${macaroonColumns}
      FROM macaroons
      WHERE account_id = ${accountId} AND (${Number(includeInactive)} = 1 OR (revoked_at IS NULL AND valid_until > ${now}))
      ORDER BY valid_since, session_id`),

  /** Those of an account or of all, newest first, behind a place in that order; inactive ones only when asked for. */
  page: (
    {
      accountId,
      ...wanted
    }: {
      accountId: string | null;
      includeInactive: boolean;
      now: string;
      before: { since: string; sessionId: string } | undefined;
    },
    limit: number,
  ) => {
    const { includeInactive, now, before = { since: '~', sessionId: '' } } = wanted;
    if (accountId === null) {
      return db.all<OwnedMacaroon>(sql`
        SELECT ${ownedColumns}
        FROM macaroons JOIN accounts ON accounts.id = account_id
        LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
        WHERE (valid_since, session_id) < (${before.since}, ${before.sessionId})
          AND (${Number(includeInactive)} = 1 OR (revoked_at IS NULL AND valid_until > ${now}))
        ORDER BY valid_since DESC, session_id DESC LIMIT ${limit}`);
    }
    return db.all<OwnedMacaroon>(sql`
      SELECT ${ownedColumns}
      FROM macaroons JOIN accounts ON accounts.id = account_id
      LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
      WHERE account_id = ${accountId} AND (valid_since, session_id) < (${before.since}, ${before.sessionId})
        AND (${Number(includeInactive)} = 1 OR (revoked_at IS NULL AND valid_until > ${now}))
      ORDER BY valid_since DESC, session_id DESC LIMIT ${limit}`);
  },

  /** Good ones of an account or of all that end by a moment, in the order of their ends, behind a place in it. */
  ending: (
    wanted: { accountId: string | null; now: string; by: string; after: { until: string; sessionId: string } },
    limit: number,
  ) => {
    const { accountId, now, by, after } = wanted;
    if (accountId === null) {
      return db.all<OwnedMacaroon>(sql`
        SELECT ${ownedColumns}
        FROM macaroons JOIN accounts ON accounts.id = account_id
        LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
        WHERE (valid_until, session_id) > (${after.until}, ${after.sessionId}) AND valid_until > ${now}
          AND valid_until <= ${by} AND revoked_at IS NULL
        ORDER BY valid_until, session_id LIMIT ${limit}`);
    }
    // An account has few; found by when they end, those of everybody else would be passed over.
    return db.all<OwnedMacaroon>(sql`
      SELECT ${ownedColumns}
      FROM accounts CROSS JOIN macaroons
      LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
      WHERE accounts.id = ${accountId} AND account_id = accounts.id
        AND (valid_until, session_id) > (${after.until}, ${after.sessionId}) AND valid_until > ${now}
        AND valid_until <= ${by} AND revoked_at IS NULL
      ORDER BY valid_until, session_id LIMIT ${limit}`);
  },

  /** Those of an account or of all in another order, so many behind so many; sorted are the newest 20,000. */
  sorted: (
    wanted: { accountId: string | null; now: string; by: string | null; includeInactive: boolean },
    order: TokenOrder,
    { offset, limit }: { offset: number; limit: number },
  ) => {
    const { accountId, now, by, includeInactive } = wanted;
    return db.all<OwnedMacaroon>(sql`
      SELECT ${ownedColumns}
      FROM (
        SELECT * FROM macaroons
        WHERE ${accountId} IS NULL AND (valid_since, session_id) < ('~', '') AND (${by} IS NULL OR valid_until <= ${by})
          AND (${Number(includeInactive)} = 1 OR (revoked_at IS NULL AND valid_until > ${now}))
        UNION ALL
        SELECT * FROM macaroons
        WHERE account_id = ${accountId} AND (${by} IS NULL OR valid_until <= ${by})
          AND (${Number(includeInactive)} = 1 OR (revoked_at IS NULL AND valid_until > ${now}))
        ORDER BY valid_since DESC, session_id DESC LIMIT ${mostSorted}) AS macaroons
      JOIN accounts ON accounts.id = account_id
      LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
      ORDER BY
        CASE ${order} WHEN 'whose' THEN username WHEN 'since' THEN valid_since WHEN 'until' THEN valid_until
          WHEN 'used' THEN coalesce(used.last_at, '') END,
        CASE ${order} WHEN '-whose' THEN username WHEN '-since' THEN valid_since WHEN '-until' THEN valid_until
          WHEN '-used' THEN coalesce(used.last_at, '') END DESC,
        valid_since DESC, session_id DESC
      LIMIT ${limit} OFFSET ${offset}`);
  },

  /** How many good ones that began before a moment end by another one. */
  countEnding: async (wanted: { now: string; by: string; begunBefore: string }) =>
    (
      await db.get<{ count: number }>(sql`
        SELECT COUNT(*) AS count FROM macaroons JOIN accounts ON accounts.id = account_id
        WHERE valid_until > ${wanted.now} AND valid_until <= ${wanted.by} AND valid_since < ${wanted.begunBefore}
          AND revoked_at IS NULL AND disabled_at IS NULL`)
    )?.count ?? 0,

  /** One with what narrows it, and the session of the one in its place. */
  find: (sessionId: string) =>
    db.get<Macaroon & { conditions: string | null; replacedBy: string | null }>(sql`
      SELECT ${macaroonColumns}, conditions, replaced_by AS "replacedBy"
      FROM macaroons WHERE session_id = ${sessionId}`),

  /** Whether any ended before the one time and, where it is revoked or has another one in its place, began before the other. */
  anyEnded: async (endedBefore: string, begunBefore: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM macaroons
      WHERE valid_until < ${endedBefore} AND ((revoked_at IS NULL AND replaced_by IS NULL) OR valid_since < ${begunBefore}) LIMIT 1`)),
});

export const macaroonChanges = (db: Queries) => ({
  ...macaroons(db),

  add: (macaroon: NewMacaroon) =>
    db.run(sql`
      INSERT INTO macaroons (${issuedColumns})
      VALUES (${macaroon.sessionId}, ${macaroon.accountId}, ${macaroon.rootKeyId}, ${macaroon.kind ?? 'token'},
        ${macaroon.description}, ${macaroon.validSince}, ${macaroon.validUntil}, ${macaroon.conditions ?? null})`),

  /** Begins the session of a login; false when it has begun before. */
  claim: async (macaroon: NewMacaroon) =>
    0 <
    (await db.run(sql`
      INSERT INTO macaroons (${issuedColumns})
      VALUES (${macaroon.sessionId}, ${macaroon.accountId}, ${macaroon.rootKeyId}, ${macaroon.kind ?? 'token'},
        ${macaroon.description}, ${macaroon.validSince}, ${macaroon.validUntil}, ${macaroon.conditions ?? null})
      ON CONFLICT (session_id) DO NOTHING`)),

  /** Forgets those that `anyEnded` tells of, the earliest first and at most so many; how many they were. */
  async forgetEnded(endedBefore: string, begunBefore: string, most: number): Promise<number> {
    const ended = await db.all<{ sessionId: string }>(sql`
      SELECT session_id AS "sessionId" FROM macaroons
      WHERE valid_until < ${endedBefore}
        AND ((revoked_at IS NULL AND replaced_by IS NULL) OR valid_since < ${begunBefore})
      ORDER BY valid_until LIMIT ${most}`);
    const sessions = ended.map(({ sessionId }) => sessionId);
    await db.run(sql`DELETE FROM notes WHERE kind = 'token' AND key IN ${list(sessions)}`);
    return db.run(sql`DELETE FROM macaroons WHERE session_id IN ${list(sessions)}`);
  },

  /** Lets one end at a moment, with another one in its place. */
  replace: (sessionId: string, by: string, endsAt: string) =>
    db.run(sql`
      UPDATE macaroons SET valid_until = ${endsAt}, replaced_by = ${by} WHERE session_id = ${sessionId}`),

  /** Says what a session is for. */
  describe: (sessionId: string, description: string) =>
    db.run(sql`UPDATE macaroons SET description = ${description} WHERE session_id = ${sessionId}`),

  /** Revokes one, whosever it is; undefined when there is none of that session. Revoking twice keeps the first time. */
  async end(sessionId: string, { at, by }: { at: string; by: string }): Promise<OwnedMacaroon | undefined> {
    await db.run(sql`
      UPDATE macaroons SET revoked_at = COALESCE(revoked_at, ${at}), revoked_by = COALESCE(revoked_by, ${by})
      WHERE session_id = ${sessionId}`);
    return db.get<OwnedMacaroon>(sql`
      SELECT ${ownedColumns}
      FROM macaroons JOIN accounts ON accounts.id = account_id
      LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
      WHERE session_id = ${sessionId}`);
  },

  /**
   * Ends all macaroons of an account, or those issued before a moment, and the logins that began before and that nobody
   * has exchanged yet; how many of them were active.
   */
  async endAll(
    accountId: string,
    { at, by, issuedBefore }: { at: string; by: string; issuedBefore: string | null },
  ): Promise<number> {
    const until = issuedBefore ?? at;
    await db.run(sql`
      UPDATE accounts SET tokens_ended_at = ${until}
      WHERE id = ${accountId} AND (tokens_ended_at IS NULL OR tokens_ended_at < ${until})`);
    return db.run(sql`
      UPDATE macaroons SET revoked_at = ${at}, revoked_by = ${by}
      WHERE account_id = ${accountId} AND revoked_at IS NULL AND valid_until > ${at}
        AND (${issuedBefore} IS NULL OR valid_since < ${issuedBefore})`);
  },

  /** Revokes one of the account's macaroons; false when it has none of that session. Revoking twice keeps the first time. */
  revoke: async (sessionId: string, accountId: string, at: string) =>
    0 <
    (await db.run(sql`
      UPDATE macaroons SET revoked_at = COALESCE(revoked_at, ${at}), revoked_by = COALESCE(revoked_by, ${accountId})
      WHERE session_id = ${sessionId} AND account_id = ${accountId}`)),
});
