// larder guardrail remove
import { removeGuardrail } from '#acts/releases/tracks.ts';
import { command } from '../frame/command.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { withStore } from '../frame/store.ts';

export const guardrailRemove = command({
  name: 'guardrail remove',
  summary: 'Allow no more new tracks that match a pattern; tracks that are there stay.',
  positionals: [packageArgument, { name: 'pattern', summary: "The pattern, as 'larder guardrail list' shows it." }],
  examples: [String.raw`larder guardrail remove snap/hello '[0-9]+\.[0-9]+'`],
  confirm: {
    question: ({ positionals: { package: packageText, pattern } }) =>
      `No new track of ${packageText} may match ${pattern} any more; tracks that are there stay.`,
    unattended: 'goes on',
  },

  run: ({ positionals: { package: packageText, pattern }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, actor }) => {
      const subject = await findPackage(records, packageText);
      await acts.do(removeGuardrail, { actor }, { package: subject, pattern });
      const object = `${subject.namespace}/${subject.name}`;
      return { text: `${object} has no guardrail ${pattern} any more.`, json: { package: object, pattern } };
    }),
});
