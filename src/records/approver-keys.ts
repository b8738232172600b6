// Keys with which people sign what they approve of: several to an account, each of one account alone.
import { columns, sql, type Queries } from '#engine/database.ts';

export interface ApproverKey {
  /** As a line of `authorized_keys`, without a comment. */
  key: string;
  accountId: string;
  addedAt: string;
  /** As the audit log names whoever registered it. */
  addedBy: string;
}

const keyColumns = columns`key, account_id AS "accountId", added_at AS "addedAt", added_by AS "addedBy"`;

export const approverKeys = (db: Pick<Queries, 'get' | 'all'>) => ({
  find: (key: string) => db.get<ApproverKey>(sql`SELECT ${keyColumns} FROM approver_keys WHERE key = ${key}`),

  /** The oldest first. */
  of: (accountId: string) =>
    db.all<ApproverKey>(sql`
      SELECT ${keyColumns} FROM approver_keys WHERE account_id = ${accountId} ORDER BY added_at, key`),
});

export const approverKeyChanges = (db: Queries) => ({
  ...approverKeys(db),

  add: ({ key, accountId, addedAt, addedBy }: ApproverKey) =>
    db.run(sql`
      INSERT INTO approver_keys (key, account_id, added_at, added_by) VALUES (${key}, ${accountId}, ${addedAt}, ${addedBy})`),

  /** False where that account has no such key. */
  remove: async ({ key, accountId }: Pick<ApproverKey, 'key' | 'accountId'>) =>
    0 < (await db.run(sql`DELETE FROM approver_keys WHERE key = ${key} AND account_id = ${accountId}`)),
});
