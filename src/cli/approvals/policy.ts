// larder approval policy
import { policyProblem } from '#acts/approvals/policy-in-force.ts';
import { releasedVulnerabilities } from '#acts/vulnerabilities/released-vulnerabilities.ts';
import { policyTexts, readPolicy } from '#domain/approvals/approval-policy.ts';
import { timestamp } from '#domain/clock.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

export const approvalPolicy = command({
  name: 'approval policy',
  summary: 'Show the approval policy in force, and the one in larder.toml.',
  description:
    'The server puts [approvals] of larder.toml into force when it starts and when it reads its configuration ' +
    'again. A rule that asks for less than the one in force becomes a proposal and waits for approvals. A policy ' +
    'that cannot be met does not come into force; until it does, the store refuses the changes that it covers. ' +
    'Releases that a rule for vulnerabilities would hold now are listed; they stay. ' +
    'Approvals protect against a mistake of one person, one stolen credential, one publisher. They do not ' +
    'protect against root of the host or against a person who has site.key.',
  examples: ['larder approval policy', 'larder approval policy --json'],

  run: ({ data, world }) =>
    withStore({ data, world }, async ({ records, config, now }) => {
      const configured = readPolicy(config.approvals);
      const problem = await policyProblem(records, configured);
      const policy = await records.approvalPolicy.inForce();
      const inForce = policyTexts(policy);
      const released = await releasedVulnerabilities(records, { at: timestamp(now()), policy });
      const configuredTexts = policyTexts(configured);
      const keys = [...new Set([...inForce.keys(), ...configuredTexts.keys()])];
      const rows = keys.map((key) => [key, inForce.get(key) ?? '0', configuredTexts.get(key) ?? '0']);
      const text = rows.length === 0 ? 'No change needs approval.' : table(['WHAT', 'IN FORCE', 'LARDER.TOML'], rows);
      const lines = released.map(({ on, part, to }) => `  ${on} (${part ?? ''}): ${to ?? ''}`);
      return {
        text: [
          text,
          ...(problem === undefined ? [] : [problem]),
          ...(lines.length === 0 ? [] : ['Released already, with vulnerabilities that a rule names:', ...lines]),
        ].join('\n'),
        json: {
          'in-force': Object.fromEntries(inForce),
          configuration: Object.fromEntries(configuredTexts),
          problem: problem ?? null,
          released: released.map(({ on, part, to }) => ({ on, condition: part, revisions: to })),
        },
      };
    }),
});
