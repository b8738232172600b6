// Takes the approval policy of the configuration into force. What asks for more is in force at once; what asks for less waits like
// anything else, because the file alone must not lower what protects against whoever can write one.
import { isDeepStrictEqual } from 'node:util';

import { itself, type Acts } from '#acts/act.ts';
import { whyUnmet } from '#acts/policy-standing.ts';
import { changeApprovalPolicy } from '#acts/proposals.ts';
import { readPolicy, type ApprovalPolicy } from '#domain/approvals.ts';
import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { Config } from '#src/config.ts';
import type { Health } from '#src/health.ts';
import type { Job } from './runner.ts';

export interface ApprovalPolicyKeeping {
  /** Takes up what the configuration says; that it is not in force is a fault. */
  takeUp(): Promise<void>;
  /** Looks again, because what waited may have been approved meanwhile. */
  job: Job;
}

interface Options {
  records: Pick<Records, 'accounts' | 'appliance' | 'approvalPolicy' | 'approverKeys' | 'totpSecrets'>;
  acts: Acts;
  config: () => Pick<Config, 'approvals'>;
  health: Pick<Health, 'watch'>;
}

export function approvalPolicyKeeping({ records, acts, config, health }: Options): ApprovalPolicyKeeping {
  let refused: string | undefined;
  let takingUp: Promise<void> = Promise.resolve();
  const isInForce = async (policy: ApprovalPolicy): Promise<boolean> =>
    isDeepStrictEqual(policy, await records.approvalPolicy.inForce());

  async function takeUpNow(): Promise<void> {
    const configured = readPolicy(config().approvals);
    refused = undefined;
    if (await isInForce(configured)) return;
    try {
      await acts.do(changeApprovalPolicy, itself, configured);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refused = error.message;
    }
  }

  const takeUp = (): Promise<void> => {
    const taking = takeUpNow();
    takingUp = taking.catch(() => undefined);
    return taking;
  };

  health.watch('approvals-not-in-force', async () => {
    // A reload does not wait for the policy that it takes up.
    await takingUp;
    if (refused === undefined || (await isInForce(readPolicy(config().approvals)))) return undefined;
    return { because: refused };
  });
  health.watch('approvals-unmet', async () => {
    await takingUp;
    const configured = readPolicy(config().approvals);
    // Approvers may have been disabled, or have lost the role or their keys, since it came into force.
    const unmet = (await isInForce(configured)) ? await whyUnmet(records, configured) : undefined;
    return unmet === undefined ? undefined : { because: unmet };
  });

  return {
    takeUp,
    job: {
      name: 'keep-approval-policy',
      inDoubt: 'runs',
      every: minutes(1),
      oncePer: 'process',
      async run() {
        await takeUp();
        return {};
      },
    },
  };
}
