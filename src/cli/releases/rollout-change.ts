// larder rollout pause, larder rollout resume, larder rollout roll-back
import { pauseRollout, resumeRollout, rollBackRollout } from '#acts/releases/rollouts.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { findNumberedRollout, rolloutArgument } from './rollout-argument.ts';

export const rolloutPause = command({
  name: 'rollout pause',
  summary: 'Pause an automatic rollout: no further device gets its revision.',
  positionals: [rolloutArgument],
  options: { reason: { type: 'string', value: 'TEXT', summary: 'The reason, for the people who look at it.' } },
  examples: ["larder rollout pause 3 --reason 'A customer reports a crash.'"],

  run: ({ positionals, options: { reason }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, actor }) => {
      const { subject, rollout } = await findNumberedRollout(records, positionals.number);
      const { number, state } = await acts.do(
        pauseRollout,
        { actor },
        { package: subject, number: rollout.number, reason },
      );
      return { text: `The rollout ${String(number)} is paused.`, json: { number, state } };
    }),
});

export const rolloutResume = command({
  name: 'rollout resume',
  summary: 'Resume a paused rollout. Results of devices until now no longer count.',
  positionals: [rolloutArgument],
  examples: ['larder rollout resume 3'],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, acts, actor }) => {
      const { subject, rollout } = await findNumberedRollout(records, positionals.number);
      const { number, state } = await acts.do(resumeRollout, { actor }, { package: subject, number: rollout.number });
      return { text: `The rollout ${String(number)} continues.`, json: { number, state } };
    }),
});

export const rolloutRollBack = command({
  name: 'rollout roll-back',
  summary: 'Roll back a rollout: all devices get the revision again that the channel gives to the others.',
  description: 'Devices that have the revision of the rollout get the other one at their next refresh.',
  positionals: [rolloutArgument],
  examples: ['larder rollout roll-back 3', 'larder rollout roll-back 3 --yes'],
  confirm: {
    question: ({ positionals }) =>
      `Roll back the rollout ${positionals.number}? Devices that have its revision get the older one at their next refresh.`,
    unattended: 'goes on',
  },

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records, acts, actor }) => {
      const { subject, rollout } = await findNumberedRollout(records, positionals.number);
      const { number, state } = await acts.do(rollBackRollout, { actor }, { package: subject, number: rollout.number });
      return { text: `The rollout ${String(number)} is rolled back.`, json: { number, state } };
    }),
});
