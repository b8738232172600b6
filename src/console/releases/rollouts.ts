// The pages of automatic rollouts: a bar per step with the results of devices, and the forms to pause, resume and roll back.
import { gateErrorCodes } from '#acts/gate.ts';
import { pauseRollout, resumeRollout, rollBackRollout } from '#acts/releases/rollouts.ts';
import { onPackage } from '#access/access-rules.ts';
import type { Rollout as WireRollout } from '#contract/wire.ts';
import { planText, stepsText } from '#domain/releases/rollout.ts';
import { Refusal } from '#domain/refusal.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { caller } from '#operations/caller.ts';
import { presentRollout, summarizeRollout } from '#operations/releases/rollouts/present.ts';
import { findRollout, findRolloutInReach } from '#operations/releases/rollouts/rollout-of.ts';
import { numberBefore, pageOf } from '#operations/page.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { declareMessages } from '../messages.ts';
import { addressOf } from '../packages/address.ts';
import { withQuery } from '../parts/address.ts';
import { share } from '../parts/charts.ts';
import { field, formOf } from '../parts/form.ts';
import { badge, type Gravity } from '../parts/notice.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { count, time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';

const withMessage = declareMessages({
  'rollout-paused': 'The rollout is paused. No further device gets its revision.',
  'rollout-waits':
    'Resuming is proposed and waits for approvals. The rollout stays paused. Resume it again when it is approved.',
  'rollout-resumed': 'The rollout continues.',
  'rollout-rolled-back': 'The rollout is rolled back. All devices get the older revision at their next refresh.',
});

const path = '/console/packages/:namespace/:name/rollouts';
const ofOne = `${path}/:number` as const;
const views = onPackage('package-view-releases');
const manages = onPackage('package-manage-releases');

export const consoleRollouts = screen({
  name: 'console_rollouts',
  path,
  summary: 'List the automatic rollouts of a package, newest first.',
  access: views,
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show({ package: subject, query, records, now }) {
    const rows = await records.rollouts.ofPackage(subject.id, numberBefore(query), pageSize + 1);
    const { entries, next } = pageOf(rows, pageSize, ({ number }) => [String(number)]);
    const moment = now();
    const shown = await Promise.all(entries.map((rollout) => summarizeRollout(records, subject, rollout, moment)));
    const address = addressOf(subject, 'rollouts');
    return {
      title: `Rollouts of ${subject.namespace}/${subject.name}`,
      lead: html`Releases that reach more devices in steps. <a href="${addressOf(subject)}">To the package</a>`,
      content: html`${table<WireRollout>({
        caption: 'Rollouts, newest first',
        columns: [
          {
            heading: 'Rollout',
            cell: ({ number }) => html`<a href="${addressOf(subject, 'rollouts', number)}">${number}</a>`,
          },
          { heading: 'Channel', cell: ({ channel }) => channel },
          {
            heading: 'Revision',
            cell: ({ revision }) => html`<a href="${addressOf(subject, 'revisions', revision)}">${revision}</a>`,
          },
          { heading: 'State', cell: ({ state }) => stateBadge(state) },
          { heading: 'Devices', cell: ({ percentage }) => `${String(percentage)} %` },
          { heading: 'Started', cell: (rollout) => time(rollout['started-at']) },
        ],
        rows: shown,
        empty: html`No release of this package has steps yet. Release a revision with steps
          <a href="${addressOf(subject, 'release')}">here</a>.`,
      })}
      ${nextPage(next && withQuery(address, { cursor: next }), 'Older rollouts')}`,
    };
  },
});

const gravities: Readonly<Record<WireRollout['state'], Gravity>> = {
  running: 'good',
  paused: 'warn',
  done: 'good',
  'rolled-back': 'note',
  ended: 'note',
};

const stateBadge = (state: WireRollout['state']): Html => badge(gravities[state], state.replace('-', ' '));

export const consoleRollout = screen({
  name: 'console_rollout',
  path: ofOne,
  summary: 'Show a rollout: a bar per step with the results of devices, and forms to change it.',
  access: views,
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show(call) {
    const { package: subject, records, browsing, now } = call;
    const stored = await findRollout(call);
    const shown = await presentRollout(records, subject, stored, now());
    const address = addressOf(subject, 'rollouts', stored.number);
    const isOpen = shown.state === 'running' || shown.state === 'paused';
    const revision = html`<a href="${addressOf(subject, 'revisions', stored.revision)}"
      >Revision ${stored.revision}</a
    >`;
    return {
      title: `Rollout ${String(stored.number)} of ${subject.namespace}/${subject.name}`,
      lead: html`${revision} to ${stored.channel}, ${stepsText(stored.plan.steps)}`,
      content: html` ${facts([
          ['State', html`${stateBadge(shown.state)} at ${shown.percentage} % of the devices`],
          ...(shown.because === null ? [] : [['Because', shown.because] as [string, string]]),
          ['Plan', planText(stored.plan)],
          ['Started', time(stored.startedAt)],
        ])}
        ${renderSteps(shown)} ${isOpen ? renderForms(browsing, address, shown.state) : nothing}
        <p class="row">
          ${isOpen ? html`<a href="${addressOf(subject, 'revisions', stored.revision, 'withdraw')}">Withdraw the revision</a>` : nothing}
          <a href="${addressOf(subject, 'rollouts')}">All rollouts of the package</a>
        </p>`,
    };
  },
});

/** The largest number of steps with a bar. */
const maxSteps = 100;

const renderSteps = ({ steps, plan }: Required<WireRollout>): Html =>
  html`${table<Required<WireRollout>['steps'][number]>({
      caption: 'Results of devices by step',
      shown: true,
      columns: [
        {
          heading: 'Step',
          cell: ({ percentage, state }) =>
            html`${percentage} % ${state === 'present' ? badge('note', 'present') : nothing}`,
        },
        {
          heading: 'Took it',
          cell: ({ offered, took }) =>
            html`${share(took / Math.max(1, offered), `${count(took)} of ${count(offered)} devices took it`)}
            ${count(took)} of ${count(offered)}`,
        },
        { heading: 'Failed', number: true, cell: ({ failed }) => count(failed) },
        { heading: 'Came back', number: true, cell: (step) => count(step['came-back']) },
        { heading: 'Silent', number: true, cell: ({ silent }) => count(silent) },
        { heading: 'Held', number: true, cell: ({ held }) => count(held) },
      ],
      rows: steps.slice(-maxSteps),
      empty: '',
    })}
    <p class="hint">
      ${steps.length < plan.steps.length ? `Steps to come: ${plan.steps.slice(steps.length, steps.length + maxSteps).join(', ')} %.` : nothing}
      Only devices with a session count, each serial once.
    </p>`;

function renderForms(browsing: BrowserEvidence['browsing'], address: string, state: WireRollout['state']): Html {
  const change =
    state === 'paused'
      ? formOf(
          browsing,
          `${address}/resume`,
          html`<p>Further devices get the revision again. Results until now no longer count.</p>
            <button>Resume</button>`,
        )
      : formOf(
          browsing,
          `${address}/pause`,
          html`${field({ name: 'reason', label: 'Reason', maxLength: 1000, hint: 'For the people who look at it; may be empty.' })}
            <button>Pause</button>`,
        );
  return html`<h2>Change</h2>
    ${change}
    ${formOf(
      browsing,
      `${address}/roll-back`,
      html`<p>Devices that have the revision get the one of the other devices again, at their next refresh.</p>
        <button class="grave">Roll back</button>`,
    )}`;
}

export const consolePauseRollout = formHandler({
  name: 'console_pause_rollout',
  path: `${ofOne}/pause`,
  summary: 'Pause a rollout: no further device gets its revision.',
  access: manages,
  body: 'ConsolePauseRollout',
  refuses: ['conflict'],

  async perform(call) {
    const { package: subject, body, acts } = call;
    const { number } = await findRolloutInReach(call);
    const reason = body.reason.trim() || undefined;
    await acts.do(pauseRollout, caller(call), { package: subject, number, reason });
    return withMessage(addressOf(subject, 'rollouts', number), 'rollout-paused');
  },
});

export const consoleResumeRollout = formHandler({
  name: 'console_resume_rollout',
  path: `${ofOne}/resume`,
  summary: 'Resume a paused rollout. Results of devices until now no longer count.',
  access: manages,
  body: 'ConsoleForm',
  refuses: ['conflict', ...gateErrorCodes],

  async perform(call) {
    const { package: subject, acts } = call;
    const { number } = await findRolloutInReach(call);
    const address = addressOf(subject, 'rollouts', number);
    try {
      await acts.do(resumeRollout, caller(call), { package: subject, number });
    } catch (refusal) {
      if (!(refusal instanceof Refusal) || refusal.code !== 'approval-required') throw refusal;
      return withMessage(address, 'rollout-waits');
    }
    return withMessage(address, 'rollout-resumed');
  },
});

export const consoleRollBackRollout = formHandler({
  name: 'console_roll_back_rollout',
  path: `${ofOne}/roll-back`,
  summary: 'Roll back a rollout: all devices get the revision again that the channel gives to the others.',
  access: manages,
  body: 'ConsoleForm',
  refuses: ['conflict'],

  async perform(call) {
    const { package: subject, acts } = call;
    const { number } = await findRolloutInReach(call);
    await acts.do(rollBackRollout, caller(call), { package: subject, number });
    return withMessage(addressOf(subject, 'rollouts', number), 'rollout-rolled-back');
  },
});
