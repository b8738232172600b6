// Decides which approvals count. Each check looks at the approver at the time of the act, not at the time of the
// approval.
import type { ApprovalRule } from '#domain/approvals/approval-policy.ts';
import { after, hours, timestamp } from '#domain/clock.ts';
import type { AccountTouch } from '#records/accounts/accounts.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { StoredApproval } from '#records/approvals/proposals.ts';

export type ApproverRecords =
  Pick<StoreRecords, 'accounts' | 'totpSecrets'> | Pick<ChangeRecords, 'accounts' | 'totpSecrets'>;

/** The properties of an approval that decide whether it counts. */
export type ApprovalTerms = Pick<StoredApproval, 'accountId' | 'at' | 'key'>;

type Check = (records: ApproverRecords, approval: ApprovalTerms, rule: ApprovalRule) => boolean | Promise<boolean>;

/** How long the approvals of an account do not count after a change of the account, its credentials or its roles. */
const quarantineMs = hours(72);

/** The conditions on an approver for an approval to count. */
export const approverChecks = {
  'account is enabled': async ({ accounts }, { accountId }) => (await accounts.disabledAt(accountId)) === null,

  'policy names the account, or it has the role': async ({ accounts }, { accountId }, { of }) =>
    of === null ? (await accounts.rolesOf(accountId)).includes('transfer-approver') : of.includes(accountId),

  // A store administrator could give themself the role, so they count only if the policy names them.
  'account does not administer the store': async ({ accounts }, { accountId }, { of }) =>
    of !== null || !(await accounts.isStoreAdministrator(accountId)),

  'account has a one-time password': async ({ totpSecrets }, { accountId }) =>
    (await totpSecrets.find(accountId)) !== undefined,

  'account was not changed': async ({ accounts }, { accountId, at }) =>
    countsFrom(await accounts.touched(accountId), at) === undefined,

  // All sessions of an account are ended if another person may have used one.
  'sessions of the account were not ended': async ({ accounts }, { accountId, at }) =>
    ((await accounts.tokensEndedAt(accountId)) ?? '') <= at,

  // The records give no key for an approval if the key is no longer registered.
  'key of the signature is registered': (_, { key }, { signed }) => signed !== true || key !== null,
} satisfies Record<string, Check>;

/** Whether an approval counts for a rule. */
export async function approvalCounts(
  records: ApproverRecords,
  approval: ApprovalTerms,
  rule: ApprovalRule,
): Promise<boolean> {
  for (const holds of Object.values<Check>(approverChecks)) {
    if (!(await holds(records, approval, rule))) return false;
  }
  return true;
}

/**
 * Approvals do not count if the approver's account was changed in the 72 hours before the approval, or after it.
 * Returns when the 72 hours end; undefined if an approval given at `at` counts.
 */
export function countsFrom(touch: AccountTouch | undefined, at: string): string | undefined {
  if (touch === undefined) return undefined;
  const until = timestamp(after(new Date(touch.at), quarantineMs));
  return until > at ? until : undefined;
}

/** The enabled accounts that can approve under a rule. Store administrators are among them only if the rule names them. */
export async function listRuleAccounts(
  { accounts }: Pick<ApproverRecords, 'accounts'>,
  { of }: ApprovalRule,
): Promise<{ id: string; username: string }[]> {
  const enabled = [];
  const meant = of === null ? await accounts.holders('transfer-approver') : (await accounts.byIds([...of])).values();
  for (const account of meant) {
    if (of === null && (await accounts.isStoreAdministrator(account.id))) continue;
    if ((await accounts.disabledAt(account.id)) === null) enabled.push(account);
  }
  return enabled;
}

/** An account that can approve under a rule, with the reasons why its approval would not count now. */
export interface Approver {
  id: string;
  username: string;
  /** When its approvals begin to count; undefined if they count now. */
  countsFrom: string | undefined;
  hasOneTimePassword: boolean;
}

/** Lists the accounts that can approve under a rule, with their state at a time. */
export async function listApprovers(records: ApproverRecords, rule: ApprovalRule, at: string): Promise<Approver[]> {
  const approvers: Approver[] = [];
  for (const { id, username } of await listRuleAccounts(records, rule)) {
    const touch = await records.accounts.touched(id);
    const hasOneTimePassword = (await records.totpSecrets.find(id)) !== undefined;
    approvers.push({ id, username, countsFrom: countsFrom(touch, at), hasOneTimePassword });
  }
  return approvers;
}
