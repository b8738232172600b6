// Holdings: the credentials and the property of an account.
import { sql, type ReadQueries } from '#engine/database.ts';

export interface Holdings {
  /** Credentials that end, or are invalid, while the account is disabled. */
  tokens: number;
  agents: number;
  pushCredentials: number;
  setUpLinks: number;
  /** Property that stays as it is. */
  packages: number;
  collaborations: number;
  invites: number;
  brands: number;
}

export const holdings = (db: ReadQueries) => ({
  of: async (accountId: string, now: string): Promise<Holdings> =>
    (await db.get<Holdings>(sql`
      SELECT
        (SELECT COUNT(*) FROM macaroons
          WHERE account_id = ${accountId} AND revoked_at IS NULL AND valid_until > ${now}) AS tokens,
        (SELECT COUNT(*) FROM agents WHERE account_id = ${accountId}) AS agents,
        (SELECT COUNT(*) FROM image_credentials WHERE account_id = ${accountId} AND kind = 'push') AS "pushCredentials",
        (SELECT COUNT(*) FROM set_up_links WHERE account_id = ${accountId} AND expires_at > ${now}) AS "setUpLinks",
        coalesce((SELECT packages FROM publishers WHERE publisher_id = ${accountId}), 0) AS packages,
        (SELECT COUNT(*) FROM collaborators WHERE account_id = ${accountId}) AS collaborations,
        (SELECT COUNT(*) FROM invites
          WHERE account_id = ${accountId} AND expires_at > ${now} AND accepted_at IS NULL AND revoked_at IS NULL) AS invites,
        (SELECT COUNT(*) FROM brands WHERE account_id = ${accountId}) AS brands`))!,
});
