// Approver keys, which sign approvals. An account may have several; a key belongs to one account.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface ApproverKey {
  /** A line of `authorized_keys`, without a comment. */
  key: string;
  accountId: string;
  addedAt: string;
  /** The account that registered the key, in the form of the audit log. */
  addedBy: string;
}

const keyColumns = columns`key, account_id AS "accountId", added_at AS "addedAt", added_by AS "addedBy"`;

export const approverKeys = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (key: string) => db.get<ApproverKey>(sql`SELECT ${keyColumns} FROM approver_keys WHERE key = ${key}`),

  /** Lists the keys of an account, oldest first. */
  of: (accountId: string) =>
    db.all<ApproverKey>(sql`
      SELECT ${keyColumns} FROM approver_keys WHERE account_id = ${accountId} ORDER BY added_at, key`),
});

export const approverKeyChanges = (db: Queries) => ({
  ...approverKeys(db),

  add: ({ key, accountId, addedAt, addedBy }: ApproverKey) =>
    db.run(sql`
      INSERT INTO approver_keys (key, account_id, added_at, added_by) VALUES (${key}, ${accountId}, ${addedAt}, ${addedBy})`),

  /** Removes a key. Returns false if the account has no such key. */
  remove: async ({ key, accountId }: Pick<ApproverKey, 'key' | 'accountId'>) =>
    0 < (await db.run(sql`DELETE FROM approver_keys WHERE key = ${key} AND account_id = ${accountId}`)),
});
