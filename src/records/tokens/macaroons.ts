// Macaroons: a row for each issued token and each browser session, so that they can be listed and revoked.
import type { OpenSession } from '#domain/tokens/session-rules.ts';
import { columns, list, sql, type Queries } from '#engine/database.ts';

/** The kind of a macaroon: a token of a tool, or a session of the console. */
export type MacaroonKind = 'token' | 'console';

/** How the login of a session was proven: with a client certificate, or on the host. */
export type LoginProofKind = 'certificate' | 'host';

export interface IssuedMacaroon {
  sessionId: string;
  accountId: string;
  rootKeyId: string;
  kind: MacaroonKind;
  description: string | null;
  validSince: string;
  validUntil: string;
  revokedAt: string | null;
  revokedBy: string | null;
  /** Null for any other login. */
  provenBy: LoginProofKind | null;
}

/** A new session. */
export interface NewMacaroon extends Omit<IssuedMacaroon, 'kind' | 'revokedAt' | 'revokedBy' | 'provenBy'> {
  /** A token by default. */
  kind?: MacaroonKind;
  provenBy?: LoginProofKind | null | undefined;
  /** The conditions of the token as a JSON list; null if unknown. */
  conditions?: string | null;
}

/** A macaroon with the user name of its account, and its last use to the minute. */
export interface OwnedMacaroon extends IssuedMacaroon {
  username: string;
  lastUsedAt: string | null;
  /** The conditions of the token as a JSON list; null if unknown, and for a browser session. */
  conditions: string | null;
}

/** Sort orders of tokens; `-` reverses the order. */
export type TokenOrder = `${'' | '-'}${'whose' | 'since' | 'until' | 'used'}`;

/** Maximum number of macaroons that are sorted in an order other than newest first, because all of them are read. */
const maxSortedMacaroons = 20_000;

/** A valid session with its account. */
export interface Session {
  accountId: string;
  username: string;
  displayName: string;
  email: string;
  validation: string;
  storeAdministrator: 0 | 1;
  /** Whether the account has a one-time password. */
  hasTotp: 0 | 1;
  /** When it ends because another session replaces it; null if none does. */
  replacedUntil: string | null;
  provenBy: LoginProofKind | null;
}

const macaroonColumns = columns`
  session_id AS "sessionId", account_id AS "accountId", root_key_id AS "rootKeyId", kind, description,
  valid_since AS "validSince", valid_until AS "validUntil", revoked_at AS "revokedAt", revoked_by AS "revokedBy",
  proven_by AS "provenBy"`;

const issuedColumns = columns`
  session_id, account_id, root_key_id, kind, description, valid_since, valid_until, conditions, proven_by`;

/** The columns of a macaroon with its owner and its last use. */
const ownedColumns = columns`
  session_id AS "sessionId", account_id AS "accountId", root_key_id AS "rootKeyId", macaroons.kind, description,
  valid_since AS "validSince", valid_until AS "validUntil", revoked_at AS "revokedAt", revoked_by AS "revokedBy",
  proven_by AS "provenBy", accounts.username, used.last_at AS "lastUsedAt", conditions`;

const openSessionColumns = columns`
  session_id AS "sessionId", account_id AS "accountId", valid_since AS "begunAt",
  CASE WHEN used.last_at > valid_since THEN used.last_at ELSE valid_since END AS "usedAt"`;

export const macaroons = (db: Pick<Queries, 'get' | 'all'>) => ({
  /** Finds the account of a session. The session must not be revoked, its root key must exist, and the account must be enabled. */
  session: (sessionId: string, rootKeyId: string) =>
    db.get<Session>(sql`
      SELECT account.id AS "accountId", account.username, account.display_name AS "displayName", account.email,
        account.validation, CASE WHEN administrator.account_id IS NULL THEN 0 ELSE 1 END AS "storeAdministrator",
        CASE WHEN totp.account_id IS NULL THEN 0 ELSE 1 END AS "hasTotp",
        CASE WHEN macaroon.replaced_by IS NULL THEN NULL ELSE macaroon.valid_until END AS "replacedUntil",
        macaroon.proven_by AS "provenBy"
      FROM macaroons AS macaroon
      JOIN root_keys ON root_keys.id = macaroon.root_key_id
      JOIN accounts AS account ON account.id = macaroon.account_id
      LEFT JOIN store_administrators AS administrator ON administrator.account_id = account.id
      LEFT JOIN totp_secrets AS totp ON totp.account_id = account.id
      WHERE macaroon.session_id = ${sessionId} AND macaroon.root_key_id = ${rootKeyId}
        AND macaroon.revoked_at IS NULL AND account.disabled_at IS NULL`),

  /** Returns whether a session is invalid only because its account is disabled. */
  isOfDisabledAccount: async (sessionId: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM macaroons JOIN accounts ON accounts.id = account_id
      WHERE session_id = ${sessionId} AND revoked_at IS NULL AND disabled_at IS NOT NULL`)),

  /** Lists the open sessions of the console, of one account or of all. */
  consoleSessions: (accountId: string | null, now: string) => {
    if (accountId === null) {
      return db.all<OpenSession>(sql`
        SELECT ${openSessionColumns}
        FROM macaroons LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
        WHERE macaroons.kind = 'console' AND valid_until > ${now} AND revoked_at IS NULL`);
    }
    return db.all<OpenSession>(sql`
      SELECT ${openSessionColumns}
      FROM macaroons LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
      WHERE account_id = ${accountId} AND macaroons.kind = 'console' AND valid_until > ${now} AND revoked_at IS NULL`);
  },

  /** Returns when the account last proved its credentials in a session of the console; undefined if it is no such session. */
  provenAt: async (sessionId: string) =>
    (
      await db.get<{ provenAt: string }>(sql`
        SELECT coalesce(proven_at, valid_since) AS "provenAt" FROM macaroons
        WHERE session_id = ${sessionId} AND kind = 'console'`)
    )?.provenAt,

  /** Like `provenAt`, without the login that began the session. */
  provenAgainAt: async (sessionId: string) =>
    (
      await db.get<{ provenAt: string | null }>(sql`
        SELECT proven_at AS "provenAt" FROM macaroons WHERE session_id = ${sessionId} AND kind = 'console'`)
    )?.provenAt ?? undefined,

  /** Returns the end of a session; undefined if there is no such session. */
  validUntil: async (sessionId: string) =>
    (
      await db.get<{ validUntil: string }>(sql`
        SELECT valid_until AS "validUntil" FROM macaroons WHERE session_id = ${sessionId}`)
    )?.validUntil,

  /** Lists an account's macaroons, oldest first. Inactive ones (revoked, or expired by `now`) are listed only on request. */
  list: (accountId: string, now: string, includeInactive: boolean) =>
    db.all<IssuedMacaroon>(sql`
      SELECT ${macaroonColumns}
      FROM macaroons
      WHERE account_id = ${accountId} AND (${Number(includeInactive)} = 1 OR (revoked_at IS NULL AND valid_until > ${now}))
      ORDER BY valid_since, session_id`),

  /** Lists the macaroons of an account, or of all, newest first, from a position. Inactive ones are listed only on request. */
  page: (
    {
      accountId,
      ...filter
    }: {
      accountId: string | null;
      includeInactive: boolean;
      now: string;
      before: { since: string; sessionId: string } | undefined;
    },
    limit: number,
  ) => {
    const { includeInactive, now, before = { since: '~', sessionId: '' } } = filter;
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

  /** Lists valid macaroons of an account, or of all, that end at `endsBy` or earlier, by their ends, from the position `after`. */
  ending: (
    filter: { accountId: string | null; now: string; endsBy: string; after: { until: string; sessionId: string } },
    limit: number,
  ) => {
    const { accountId, now, endsBy, after } = filter;
    if (accountId === null) {
      return db.all<OwnedMacaroon>(sql`
        SELECT ${ownedColumns}
        FROM macaroons JOIN accounts ON accounts.id = account_id
        LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
        WHERE (valid_until, session_id) > (${after.until}, ${after.sessionId}) AND valid_until > ${now}
          AND valid_until <= ${endsBy} AND revoked_at IS NULL
        ORDER BY valid_until, session_id LIMIT ${limit}`);
    }
    // Begin with the account, because it has few macaroons. The index on `valid_until` would scan the macaroons of all accounts.
    return db.all<OwnedMacaroon>(sql`
      SELECT ${ownedColumns}
      FROM accounts CROSS JOIN macaroons
      LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
      WHERE accounts.id = ${accountId} AND account_id = accounts.id
        AND (valid_until, session_id) > (${after.until}, ${after.sessionId}) AND valid_until > ${now}
        AND valid_until <= ${endsBy} AND revoked_at IS NULL
      ORDER BY valid_until, session_id LIMIT ${limit}`);
  },

  /** Lists the macaroons of an account, or of all, in another order, by offset. Only the newest 20,000 are sorted. */
  sorted: (
    filter: { accountId: string | null; now: string; endsBy: string | null; includeInactive: boolean },
    order: TokenOrder,
    { offset, limit }: { offset: number; limit: number },
  ) => {
    const { accountId, now, endsBy, includeInactive } = filter;
    return db.all<OwnedMacaroon>(sql`
      SELECT ${ownedColumns}
      FROM (
        SELECT * FROM macaroons
        WHERE ${accountId} IS NULL AND (valid_since, session_id) < ('~', '') AND (${endsBy} IS NULL OR valid_until <= ${endsBy})
          AND (${Number(includeInactive)} = 1 OR (revoked_at IS NULL AND valid_until > ${now}))
        UNION ALL
        SELECT * FROM macaroons
        WHERE account_id = ${accountId} AND (${endsBy} IS NULL OR valid_until <= ${endsBy})
          AND (${Number(includeInactive)} = 1 OR (revoked_at IS NULL AND valid_until > ${now}))
        ORDER BY valid_since DESC, session_id DESC LIMIT ${maxSortedMacaroons}) AS macaroons
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

  /** Counts the valid macaroons that expire at `endsBy` or earlier and were issued before `begunBefore`. */
  countEnding: async (filter: { now: string; endsBy: string; begunBefore: string }) =>
    (
      await db.get<{ count: number }>(sql`
        SELECT COUNT(*) AS count FROM macaroons JOIN accounts ON accounts.id = account_id
        WHERE valid_until > ${filter.now} AND valid_until <= ${filter.endsBy} AND valid_since < ${filter.begunBefore}
          AND revoked_at IS NULL AND disabled_at IS NULL`)
    )?.count ?? 0,

  /** Returns a macaroon with its conditions and the session that replaces it. */
  find: (sessionId: string) =>
    db.get<IssuedMacaroon & { conditions: string | null; replacedBy: string | null }>(sql`
      SELECT ${macaroonColumns}, conditions, replaced_by AS "replacedBy"
      FROM macaroons WHERE session_id = ${sessionId}`),

  /** Returns whether any macaroon expired before `endedBefore`. Revoked and replaced ones must also have begun before `begunBefore`. */
  anyEnded: async (endedBefore: string, begunBefore: string) =>
    undefined !==
    (await db.get(sql`
      SELECT 1 FROM macaroons
      WHERE valid_until < ${endedBefore} AND ((revoked_at IS NULL AND replaced_by IS NULL) OR valid_since < ${begunBefore}) LIMIT 1`)),
});

export const macaroonChanges = (db: Queries) => ({
  ...macaroons(db),

  add: (macaroon: NewMacaroon) =>
    db.write(sql`
      INSERT INTO macaroons (${issuedColumns})
      VALUES (${macaroon.sessionId}, ${macaroon.accountId}, ${macaroon.rootKeyId}, ${macaroon.kind ?? 'token'},
        ${macaroon.description}, ${macaroon.validSince}, ${macaroon.validUntil}, ${macaroon.conditions ?? null},
        ${macaroon.provenBy ?? null})`),

  /** Starts the session of a login. Returns false if it has started before. */
  claim: async (macaroon: NewMacaroon) =>
    0 <
    (await db.run(sql`
      INSERT INTO macaroons (${issuedColumns})
      VALUES (${macaroon.sessionId}, ${macaroon.accountId}, ${macaroon.rootKeyId}, ${macaroon.kind ?? 'token'},
        ${macaroon.description}, ${macaroon.validSince}, ${macaroon.validUntil}, ${macaroon.conditions ?? null},
        ${macaroon.provenBy ?? null})
      ON CONFLICT (session_id) DO NOTHING`)),

  /** Deletes at most `limit` of the macaroons that `anyEnded` finds, the earliest end first. Returns how many. */
  async forgetEnded(endedBefore: string, begunBefore: string, limit: number): Promise<number> {
    const ended = await db.all<{ sessionId: string }>(sql`
      SELECT session_id AS "sessionId" FROM macaroons
      WHERE valid_until < ${endedBefore}
        AND ((revoked_at IS NULL AND replaced_by IS NULL) OR valid_since < ${begunBefore})
      ORDER BY valid_until LIMIT ${limit}`);
    const sessions = ended.map(({ sessionId }) => sessionId);
    await db.write(sql`DELETE FROM notes WHERE kind = 'token' AND key IN ${list(sessions)}`);
    return db.run(sql`DELETE FROM macaroons WHERE session_id IN ${list(sessions)}`);
  },

  /** Sets the end of a session and the session that replaces it. */
  replace: (sessionId: string, replacementId: string, endsAt: string) =>
    db.write(sql`
      UPDATE macaroons SET valid_until = ${endsAt}, replaced_by = ${replacementId} WHERE session_id = ${sessionId}`),

  /** Records that the account has proven its credentials again in a session of the console. */
  prove: (sessionId: string, accountId: string, at: string) =>
    db.write(sql`
      UPDATE macaroons SET proven_at = ${at}
      WHERE session_id = ${sessionId} AND account_id = ${accountId} AND kind = 'console'`),

  /** Sets the description of a session. */
  describe: (sessionId: string, description: string) =>
    db.write(sql`UPDATE macaroons SET description = ${description} WHERE session_id = ${sessionId}`),

  /** Revokes a session of any account. Returns undefined if there is no such session. A second revocation keeps the first time. */
  async end(sessionId: string, { at, actor }: { at: string; actor: string }): Promise<OwnedMacaroon | undefined> {
    await db.write(sql`
      UPDATE macaroons SET revoked_at = COALESCE(revoked_at, ${at}), revoked_by = COALESCE(revoked_by, ${actor})
      WHERE session_id = ${sessionId}`);
    return db.get<OwnedMacaroon>(sql`
      SELECT ${ownedColumns}
      FROM macaroons JOIN accounts ON accounts.id = account_id
      LEFT JOIN notes AS used ON used.kind = 'token' AND used.key = session_id
      WHERE session_id = ${sessionId}`);
  },

  /**
   * Revokes all macaroons of an account, or those issued before `issuedBefore`. Earlier logins that have not been exchanged yet become
   * invalid as well. Returns how many macaroons were active.
   */
  async endAll(
    accountId: string,
    { at, actor, issuedBefore }: { at: string; actor: string; issuedBefore: string | null },
  ): Promise<number> {
    const until = issuedBefore ?? at;
    await db.write(sql`
      UPDATE accounts SET tokens_ended_at = ${until}
      WHERE id = ${accountId} AND (tokens_ended_at IS NULL OR tokens_ended_at < ${until})`);
    return db.run(sql`
      UPDATE macaroons SET revoked_at = ${at}, revoked_by = ${actor}
      WHERE account_id = ${accountId} AND revoked_at IS NULL AND valid_until > ${at}
        AND (${issuedBefore} IS NULL OR valid_since < ${issuedBefore})`);
  },

  /** Revokes a session of this account. Returns false if the account has no such session. A second revocation keeps the first time. */
  revoke: async (sessionId: string, accountId: string, at: string) =>
    0 <
    (await db.run(sql`
      UPDATE macaroons SET revoked_at = COALESCE(revoked_at, ${at}), revoked_by = COALESCE(revoked_by, ${accountId})
      WHERE session_id = ${sessionId} AND account_id = ${accountId}`)),
});
