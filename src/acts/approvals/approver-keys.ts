// Approver keys: SSH keys, kept off the host, that sign approvals.
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { Refusal } from '#domain/refusal.ts';
import { fingerprintOfSshKey } from '#domain/approvals/ssh-key.ts';
import { accountObject, requireAccount, markTouched, type AccountTarget } from '../accounts/accounts.ts';
import { act } from '../act.ts';

interface ApproverKeyTarget extends AccountTarget {
  /** As `readSshKey` returns it. */
  key: string;
}

/** The maximum number of keys of one account, enough for several security keys. */
const maxKeys = 16;

export const addApproverKey = act({
  name: 'add_approver_key',
  summary: 'Register a key that signs the approvals of an account.',
  on: 'account/ID',
  object: accountObject,
  gate: {
    kinds: ['policy'],
    async lines(tx, { id, key }: ApproverKeyTarget): Promise<ApprovalLine[]> {
      const { username } = await requireAccount(tx, id);
      const to = fingerprintOfSshKey(key);
      return [{ kind: 'policy', on: `account/${id} (${username})`, part: 'approver key', from: null, to }];
    },
  },

  async perform(tx, { id, key }: ApproverKeyTarget, doing): Promise<void> {
    const { username } = await requireAccount(tx, id);
    doing.note({ key: fingerprintOfSshKey(key) });
    const before = await tx.approverKeys.find(key);
    if (before !== undefined) {
      const owner = before.accountId === id ? `of ${id} (${username}) already` : 'of another account';
      throw new Refusal(
        'conflict',
        `The key ${fingerprintOfSshKey(key)} is ${owner}. Each key belongs to one account.`,
      );
    }
    if ((await tx.approverKeys.of(id)).length >= maxKeys) {
      throw new Refusal('conflict', `The account ${id} (${username}) has ${String(maxKeys)} keys. Remove one first.`);
    }
    await tx.approverKeys.add({ key, accountId: id, addedAt: doing.at, addedBy: doing.actor });
    await markTouched(tx, id, doing);
  },
});

export const removeApproverKey = act({
  name: 'remove_approver_key',
  summary: 'Remove an approver key: its signatures on open proposals no longer count.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'a stolen key must stop counting at once' },

  async perform(tx, { id, key }: ApproverKeyTarget, doing): Promise<void> {
    const { username } = await requireAccount(tx, id);
    doing.note({ key: fingerprintOfSshKey(key) });
    if (!(await tx.approverKeys.remove({ key, accountId: id }))) {
      throw new Refusal('resource-not-found', `The account ${id} (${username}) has no such key.`);
    }
    await markTouched(tx, id, doing);
  },
});
