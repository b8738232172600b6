// Applies the configured approval policy. A stricter policy takes effect immediately. A weaker one needs approval like any other act,
// because write access to the file alone must not lower the protection.
import { isDeepStrictEqual } from 'node:util';

import { itself, type Acts } from '#acts/act.ts';
import { describeUnmetPolicy } from '#acts/approvals/policy-in-force.ts';
import { changeApprovalPolicy } from '#acts/approvals/proposals.ts';
import { readPolicy, weakenedLines, type ApprovalPolicy } from '#domain/approvals/approval-policy.ts';
import { minutes } from '#domain/clock.ts';
import { refusalReason } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Config } from '#configuration/config.ts';
import type { Health } from '#platform/health.ts';
import type { BackgroundJob } from '../runner.ts';

export interface ApprovalPolicyKeeper {
  /** Applies the configured policy. A policy that cannot take effect is reported as a fault. */
  takeUp(): Promise<void>;
  /** Tries again every minute, because a waiting policy may have been approved. A policy that another host made stricter is not weakened. */
  job: BackgroundJob;
}

interface ApprovalPolicyKeepingOptions {
  records: Pick<
    StoreRecords,
    'accounts' | 'appliance' | 'approvalPolicy' | 'approverKeys' | 'feedIndexes' | 'totpSecrets'
  >;
  acts: Acts;
  config: () => Pick<Config, 'approvals'>;
  health: Pick<Health, 'watch'>;
}

/** Hosts with different files would repeat such proposals without end. A stricter policy needs no proposal, so it takes effect. */
const replacedElsewhere =
  'Another host has put another policy in force since. Give all hosts of this store the same [approvals], and reload them.';

export function createApprovalPolicyKeeper({
  records,
  acts,
  config,
  health,
}: ApprovalPolicyKeepingOptions): ApprovalPolicyKeeper {
  let refused: string | undefined;
  let seenInForce: ApprovalPolicy | undefined;
  let applying: Promise<void> = Promise.resolve();
  const isInForce = async (policy: ApprovalPolicy): Promise<boolean> =>
    isDeepStrictEqual(policy, await records.approvalPolicy.inForce());

  async function applyPolicy(): Promise<void> {
    const configured = readPolicy(config().approvals);
    refused = undefined;
    const inForce = await records.approvalPolicy.inForce();
    if (isDeepStrictEqual(configured, inForce)) seenInForce = configured;
    else if (isDeepStrictEqual(configured, seenInForce) && weakenedLines(inForce, configured).length > 0)
      refused = replacedElsewhere;
    else refused = await refusalReason(() => acts.do(changeApprovalPolicy, itself, configured));
  }

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    // One after the other: an earlier policy that is still being applied must not replace the result of a later one.
    const taking = applying.then(work);
    applying = taking.catch(() => undefined);
    return taking;
  };

  health.watch('approvals-not-in-force', async () => {
    // A reload does not wait for the policy to take effect, so wait for it here.
    await applying;
    if (refused === undefined || (await isInForce(readPolicy(config().approvals)))) return undefined;
    return { because: refused };
  });
  health.watch('approvals-unmet', async () => {
    await applying;
    const configured = readPolicy(config().approvals);
    // Since the policy took effect, approvers may have been disabled, or have lost the role or their keys.
    const unmet = (await isInForce(configured)) ? await describeUnmetPolicy(records, configured) : undefined;
    return unmet === undefined ? undefined : { because: unmet };
  });

  health.watch('approvals-without-feed', async () => {
    const missing = await missingFeeds(records);
    return missing.length === 0 ? undefined : { missing };
  });

  return {
    takeUp: () =>
      inTurn(async () => {
        seenInForce = undefined;
        await applyPolicy();
      }),
    job: {
      name: 'keep-approval-policy',
      inDoubt: 'runs',
      every: minutes(1),
      oncePer: 'process',
      async run() {
        await inTurn(applyPolicy);
        return {};
      },
    },
  };
}

/** The feeds that the policy in force relies on and that no feed in force is. */
async function missingFeeds({
  approvalPolicy,
  feedIndexes,
}: Pick<StoreRecords, 'approvalPolicy' | 'feedIndexes'>): Promise<string[]> {
  const { vulnerabilities } = await approvalPolicy.inForce();
  if (vulnerabilities.length === 0) return [];
  const formats = new Set((await feedIndexes.inForce()).map(({ format }) => format));
  const missing = formats.has('osv') ? [] : ['a feed of advisories'];
  const asksAboutExploited = vulnerabilities.some(({ condition }) => condition === 'known-exploited');
  return asksAboutExploited && !formats.has('kev') ? [...missing, 'a catalog of exploited vulnerabilities'] : missing;
}
