// larder approval policy
import { policyTexts, readPolicy } from '#domain/approvals.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

export const approvalPolicy = command({
  name: 'approval policy',
  summary: 'Show whom the store asks before something is done, and what the configuration says otherwise.',
  description:
    'The serving store takes [approvals] of larder.toml up when it starts and when it reads its configuration again. What ' +
    'asks for less than is in force is proposed, and waits like anything else. Approvals protect against one ' +
    "person's mistake, one stolen credential, one publisher; they do not bind root of the host or whoever holds site.key.",
  examples: ['larder approval policy', 'larder approval policy --json'],

  run: ({ data, world }) =>
    withStore({ data, world }, async ({ records, config }) => {
      const inForce = policyTexts(await records.approvalPolicy.inForce());
      const said = policyTexts(readPolicy(config.approvals));
      const keys = [...new Set([...inForce.keys(), ...said.keys()])];
      const rows = keys.map((key) => [key, inForce.get(key) ?? '0', said.get(key) ?? '0']);
      return {
        text: rows.length === 0 ? 'Nobody is asked.' : table(['WHAT', 'IN FORCE', 'LARDER.TOML'], rows),
        json: { 'in-force': Object.fromEntries(inForce), configuration: Object.fromEntries(said) },
      };
    }),
});
