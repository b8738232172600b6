// The page of the approval policy: the rules in force, and the rules in larder.toml.
import { policyProblem } from '#acts/approvals/policy-in-force.ts';
import { overseer } from '#access/access-rules.ts';
import { policyTexts, readPolicy } from '#domain/approvals/approval-policy.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { hostCommand } from '../parts/host-command.ts';
import { badge, notice } from '../parts/notice.ts';
import { table } from '../parts/table.ts';
import { screen } from '../screen.ts';

interface PolicyRow {
  key: string;
  inForce: string;
  configured: string;
}

export const consolePolicy = screen({
  name: 'console_policy',
  path: '/console/policy',
  summary: 'Show the approval policy in force, and the one in larder.toml.',
  access: overseer('auditor'),

  async show({ records, config }) {
    const configured = readPolicy(config.approvals);
    const problem = await policyProblem(records, configured);
    const current = policyTexts(await records.approvalPolicy.inForce());
    const next = policyTexts(configured);
    const rows = [...new Set([...current.keys(), ...next.keys()])].map((key) => ({
      key,
      inForce: current.get(key) ?? '0',
      configured: next.get(key) ?? '0',
    }));
    return {
      title: 'Approval policy',
      lead:
        rows.length === 0
          ? 'No change needs approval.'
          : html`Changes that wait until enough people have approved them.
              <a href="/console/waiting">Pending proposals</a>`,
      content: html`${problem === undefined ? nothing : notice('warn', problem)} ${rulesTable(rows)} ${whereToChange}`,
    };
  },
});

const rulesTable = (rows: readonly PolicyRow[]): Html =>
  table<PolicyRow>({
    caption: 'Rules by the key in the section [approvals]',
    columns: [
      { heading: 'Key', cell: ({ key }) => html`<code>${key}</code>` },
      { heading: 'In force', cell: ({ inForce }) => inForce },
      {
        heading: 'In larder.toml',
        cell: ({ inForce, configured }) =>
          inForce === configured ? configured : html`${configured} ${badge('note', 'not in force')}`,
      },
    ],
    rows,
    empty: html`Each change is made at once. To ask for approvals, set a rule in the section <code>[approvals]</code> of
      <code>larder.toml</code> (<a href="/docs/approvals">the guide</a>).`,
  });

const whereToChange = html`<h2>Change the policy</h2>
  <p>
    The rules are in <code>larder.toml</code> on the host, so that a session in a browser cannot lower them. A rule that
    asks for more takes effect at the next reload. A rule that asks for less becomes a proposal and waits for approvals.
  </p>
  ${hostCommand('larder config set approvals.transfers 2', 'Set a rule, such as two approvers for transfers:')}
  ${hostCommand('larder approval policy', 'On the host, also with the releases that a rule for vulnerabilities would hold:')}`;
