// Takes the approval policy of the configuration into force. What asks for more is in force at once; what asks for less waits like
// anything else, because the file alone must not lower what protects against whoever can write one.
import { isDeepStrictEqual } from 'node:util';

import { itself, type Acts } from '#acts/act.ts';
import { whyUnmet } from '#acts/policy-standing.ts';
import { changeApprovalPolicy } from '#acts/proposals.ts';
import { readPolicy } from '#domain/approvals.ts';
import { minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { Config } from '#src/config.ts';
import type { Health } from '#src/health.ts';
import type { Job } from './runner.ts';

export interface ApprovalPolicyKeeping {
  /** Takes up what the configuration says, or tells why that is not in force. */
  takeUp(): Promise<void>;
  /** Looks again, because what waited may have been approved meanwhile. */
  job: Job;
}

interface Options {
  records: Pick<Records, 'accounts' | 'appliance' | 'approvalPolicy' | 'approverKeys' | 'totpSecrets'>;
  acts: Acts;
  config: () => Pick<Config, 'approvals'>;
  health: Pick<Health, 'report'>;
}

export function approvalPolicyKeeping({ records, acts, config, health }: Options): ApprovalPolicyKeeping {
  async function takeUp(): Promise<void> {
    const wanted = readPolicy(config().approvals);
    const isInForce = isDeepStrictEqual(wanted, await records.approvalPolicy.inForce());
    // Approvers may have been disabled, or have lost the role or their keys, since it came into force.
    const unmet = isInForce ? await whyUnmet(records, wanted) : undefined;
    let because: string | undefined;
    if (!isInForce) {
      try {
        await acts.do(changeApprovalPolicy, itself, wanted);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        because = error.message;
      }
    }
    health.report('approvals-not-in-force', because === undefined ? undefined : { because });
    health.report('approvals-unmet', unmet === undefined ? undefined : { because: unmet });
  }

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
