// larder vulnerability accept, larder vulnerability withdraw, larder vulnerability accepted
import { acceptFinding, withdrawAcceptedFinding } from '#acts/vulnerabilities/accepted-findings.ts';
import { timestamp } from '#domain/clock.ts';
import { presentAcceptedFinding } from '#operations/vulnerabilities/present.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { parseTimeOption } from '../frame/time-option.ts';
import { findPackage, packageArgument } from '../packages/package-argument.ts';

const vulnerabilityArgument = {
  name: 'vulnerability',
  summary: "The vulnerability as 'larder vulnerabilities' shows it, such as CVE-2026-1234.",
} as const;

export const vulnerabilityAccept = command({
  name: 'vulnerability accept',
  summary: 'Accept a vulnerability of a package until a date.',
  description:
    'The acceptance counts for all revisions of the package. It ends at the date, and earlier if the vulnerability ' +
    "gets a higher severity or becomes known to be exploited. 'larder doctor' names acceptances that end.",
  positionals: [packageArgument, vulnerabilityArgument],
  options: {
    until: { type: 'string', value: 'DATE', summary: 'The end, within 366 days, such as 2026-12-31.', required: true },
    reason: { type: 'string', value: 'TEXT', summary: 'The reason, in one line.', required: true },
  },
  examples: [
    "larder vulnerability accept snap/hello CVE-2026-1234 --until 2026-12-31 --reason 'The service is not reachable.'",
  ],

  run({ positionals: { package: packageText, vulnerability }, options, data, world }) {
    const until = parseTimeOption('until', options.until);
    return withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, packageText);
      const accepted = await acts.do(acceptFinding, person, {
        package: subject,
        vulnerability,
        reason: options.reason,
        until,
      });
      const { severity, isExploited } = accepted;
      const risk = `${severity}${isExploited ? ', known to be exploited' : ''}`;
      return {
        text: `${vulnerability} (${risk}) of ${packageText} is accepted until ${accepted.until}.`,
        json: presentAcceptedFinding({ ...accepted, namespace: subject.namespace, name: subject.name }),
      };
    });
  },
});

export const vulnerabilityWithdraw = command({
  name: 'vulnerability withdraw',
  summary: 'Withdraw the acceptance of a vulnerability, so that it counts again.',
  positionals: [packageArgument, vulnerabilityArgument],
  examples: ['larder vulnerability withdraw snap/hello CVE-2026-1234'],

  run: ({ positionals: { package: packageText, vulnerability }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, person }) => {
      const subject = await findPackage(records, packageText);
      await acts.do(withdrawAcceptedFinding, person, { package: subject, vulnerability });
      return {
        text: `${vulnerability} of ${packageText} is no longer accepted.`,
        json: { package: packageText, vulnerability },
      };
    }),
});

const maxListed = 10_000;

export const vulnerabilityAccepted = command({
  name: 'vulnerability accepted',
  summary: 'List the accepted vulnerabilities of all packages with their reasons, the first to end first.',
  examples: ['larder vulnerability accepted'],

  run: ({ data, world }) =>
    withStore({ data, world }, async ({ records, now }) => {
      const accepted = await records.acceptedFindings.list(['', '', ''], maxListed);
      const rows = accepted.map(({ namespace, name, vulnerability, severity, until, acceptedBy, reason }) => [
        `${namespace}/${name}`,
        vulnerability,
        severity,
        `${until.slice(0, 10)}${until <= timestamp(now()) ? ' (ended)' : ''}`,
        acceptedBy,
        reason,
      ]);
      return {
        text:
          rows.length === 0
            ? 'There are none.'
            : table(['PACKAGE', 'VULNERABILITY', 'SEVERITY', 'UNTIL', 'BY', 'REASON'], rows),
        json: { accepted: accepted.map(presentAcceptedFinding) },
      };
    }),
});
