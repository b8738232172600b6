// The accounts that log in with the OpenID provider of the site, by issuer and subject.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface OpenidIdentity {
  accountId: string;
  issuer: string;
  subject: string;
  linkedAt: string;
}

const identityColumns = columns`account_id AS "accountId", issuer, subject, linked_at AS "linkedAt"`;

export const openidIdentities = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (issuer: string, subject: string) =>
    db.get<OpenidIdentity>(sql`
      SELECT ${identityColumns} FROM openid_identities WHERE issuer = ${issuer} AND subject = ${subject}`),

  /** Finds the identity of an account. */
  of: (accountId: string) =>
    db.get<OpenidIdentity>(sql`SELECT ${identityColumns} FROM openid_identities WHERE account_id = ${accountId}`),
});

export const openidIdentityChanges = (db: Queries) => ({
  ...openidIdentities(db),

  add: ({ accountId, issuer, subject, linkedAt }: OpenidIdentity) =>
    db.run(sql`
      INSERT INTO openid_identities (account_id, issuer, subject, linked_at)
      VALUES (${accountId}, ${issuer}, ${subject}, ${linkedAt})`),

  remove: async (accountId: string) =>
    0 < (await db.run(sql`DELETE FROM openid_identities WHERE account_id = ${accountId}`)),
});
