// Decides whether the approval policy of the configuration is in force, and why not. While it is not, the gate refuses
// the changes that it covers.
import { isDeepStrictEqual } from 'node:util';

import {
  weakenedLines,
  stricterPolicy,
  rulesFor,
  rulesOf,
  type ApprovalPolicy,
  type ApprovalLine,
} from '#domain/approvals/approval-policy.ts';
import { formatCount, noun } from '#domain/quantities.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import { listRuleAccounts, type ApproverRecords } from './counted-approvals.ts';
import { siteNameSetting } from '../sites/sites.ts';

type PolicyRecords = ApproverRecords &
  (Pick<StoreRecords, 'appliance' | 'approverKeys'> | Pick<ChangeRecords, 'appliance' | 'approverKeys'>);

/** Why a policy cannot be met, as one or two sentences; undefined if it can. */
export async function describeUnmetPolicy(records: PolicyRecords, policy: ApprovalPolicy): Promise<string | undefined> {
  for (const rule of rulesOf(policy)) {
    for (const id of rule.of ?? []) {
      if ((await records.accounts.find(id)) === undefined) {
        return `The policy names '${id}', and no account has this id.`;
      }
    }
    const accounts = await listRuleAccounts(records, rule);
    const people = formatCount(rule.people, 'person', 'people');
    if (accounts.length < rule.people) {
      const available =
        rule.of === null
          ? `${formatCount(accounts.length, 'enabled account')} without the role 'store-admin' ` +
            `${noun(accounts.length, 'has', 'have')} the role 'transfer-approver'`
          : `${String(accounts.length)} of the accounts that it names ${noun(accounts.length, 'is', 'are')} enabled`;
      return `The policy asks for ${people}, and ${available}.`;
    }
    if (rule.signed !== true) continue;
    if ((await records.appliance.find(siteNameSetting)) === undefined) {
      return "The policy asks for signatures, and the store has no name yet. Give it one with 'larder site init NAME'.";
    }
    let able = 0;
    for (const { id } of accounts) if ((await records.approverKeys.of(id)).length > 0) able++;
    if (able < rule.people) {
      const keys = `${String(able)} of the accounts that it asks ${noun(able, 'has', 'have')} a key to sign with`;
      return `The policy asks for signatures of ${people}, and ${keys}.`;
    }
  }
  return undefined;
}

/** Why the configured policy is not in force, or can no longer be met; undefined if neither applies. */
export async function policyProblem(
  records: PolicyRecords & (Pick<StoreRecords, 'approvalPolicy'> | Pick<ChangeRecords, 'approvalPolicy'>),
  configured: ApprovalPolicy,
): Promise<string | undefined> {
  const inForce = await records.approvalPolicy.inForce();
  const unmet = await describeUnmetPolicy(records, configured);
  if (isDeepStrictEqual(configured, inForce)) return unmet && `The approval policy in force cannot be met. ${unmet}`;
  return `[approvals] in larder.toml is not in force. ${unmet ?? describePendingPolicy(inForce, configured)}`;
}

const describePendingPolicy = (inForce: ApprovalPolicy, configured: ApprovalPolicy): string =>
  weakenedLines(inForce, configured).length > 0
    ? "It asks for less than the policy in force, so it waits for approvals. List them with 'larder approval list'."
    : 'The store puts it into force when it starts or reads its configuration again.';

/**
 * While a stricter policy in the configuration is not in force yet, refuses changes that it covers. Else an account could make them before
 * the policy takes effect.
 */
export async function refuseWithoutPolicy(
  tx: PolicyRecords,
  { inForce, configured }: { inForce: ApprovalPolicy; configured: ApprovalPolicy },
  lines: readonly ApprovalLine[],
): Promise<void> {
  // Changes that bring a policy into force, such as registering the keys that it needs, must not wait for that policy.
  const covered = rulesFor(
    stricterPolicy(inForce, configured),
    lines.filter(({ kind }) => kind !== 'policy'),
  );
  if (covered.length === 0) return;
  const reason = (await describeUnmetPolicy(tx, configured)) ?? describePendingPolicy(inForce, configured);
  throw new Refusal('forbidden', `The approval policy in larder.toml covers this and is not in force. ${reason}`);
}
