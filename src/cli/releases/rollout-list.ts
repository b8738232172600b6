// larder rollout list, larder rollout show
import { planText } from '#domain/releases/rollout.ts';
import type { Rollout as WireRollout } from '#contract/wire.ts';
import { presentRollout, summarizeRollout } from '#operations/releases/rollouts/present.ts';
import type { StoreRecords } from '#records/index.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { findPackage } from '../packages/package-argument.ts';
import { findNumberedRollout, rolloutArgument } from './rollout-argument.ts';

const maxShown = 500;

export const rolloutList = command({
  name: 'rollout list',
  summary: 'List the automatic rollouts that run or are paused; of one package also those that ended.',
  positionals: [
    { name: 'package', value: 'NAMESPACE/NAME', summary: 'The package, such as snap/hello.', optional: true },
  ],
  examples: ['larder rollout list', 'larder rollout list snap/hello --json'],

  run: ({ positionals: { package: packageText }, data, world }) =>
    withStore({ data, world }, async ({ records, now }) => {
      const moment = now();
      const shown = await readRollouts(records, packageText, moment);
      const rows = shown.map(({ number, channel, revision, state, percentage, because, ...rollout }) => [
        ...[
          String(number),
          rollout.package,
          channel,
          String(revision),
          state,
          `${String(percentage)} %`,
          because ?? '-',
        ],
      ]);
      const headings = ['NUMBER', 'PACKAGE', 'CHANNEL', 'REVISION', 'STATE', 'DEVICES', 'BECAUSE'];
      const none = packageText === undefined ? 'No rollout is under way.' : `${packageText} has no rollout.`;
      return { text: rows.length === 0 ? none : table(headings, rows), json: { rollouts: shown } };
    }),
});

async function readRollouts(
  records: StoreRecords,
  packageText: string | undefined,
  moment: Date,
): Promise<WireRollout[]> {
  if (packageText !== undefined) {
    const subject = await findPackage(records, packageText);
    const stored = await records.rollouts.ofPackage(subject.id, Number.MAX_SAFE_INTEGER, maxShown);
    return Promise.all(stored.map((rollout) => summarizeRollout(records, subject, rollout, moment)));
  }
  const shown: WireRollout[] = [];
  for (const rollout of await records.rollouts.open(maxShown)) {
    const subject = await records.packages.byId(rollout.packageId);
    if (subject !== undefined && rollout.slots > 0)
      shown.push(await summarizeRollout(records, subject, rollout, moment));
  }
  return shown;
}

export const rolloutShow = command({
  name: 'rollout show',
  summary: 'Show an automatic rollout: its plan, and the results of devices in each step.',
  description:
    'A device failed if it was offered the revision again an hour or more later. It came back if it had the ' +
    'revision and has the older one again. It is silent if it has not called for as long as the plan says. ' +
    'Devices without a session do not count, and each serial counts once.',
  positionals: [rolloutArgument],
  examples: ['larder rollout show 3'],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, now }) => {
      const { subject, rollout } = await findNumberedRollout(records, positionals.number);
      const shown = await presentRollout(records, subject, rollout, now());
      const rows = shown.steps.map(({ percentage, ...step }) => [
        ...[`${String(percentage)} %`, step.state],
        ...[step.offered, step.took, step.failed, step['came-back'], step.silent, step.held].map(String),
      ]);
      const headings = ['STEP', 'STATE', 'OFFERED', 'TOOK', 'FAILED', 'CAME BACK', 'SILENT', 'HELD'];
      return { text: `${describe(shown, rollout.plan)}\n\n${table(headings, rows)}`, json: shown };
    }),
});

function describe(shown: WireRollout, plan: Parameters<typeof planText>[0]): string {
  const because = shown.because === null ? '' : `: ${shown.because}`;
  return [
    `Rollout ${String(shown.number)}: revision ${String(shown.revision)} of ${shown.package} to ${shown.channel}`,
    `It is ${shown.state} at ${String(shown.percentage)} %${because}.`,
    `Plan: ${planText(plan)}.`,
    `Started ${shown['started-at']} by ${shown['started-by']}.`,
  ].join('\n');
}
