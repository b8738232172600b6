// larder guardrail remove
import { removeGuardrail } from '#acts/releases/tracks.ts';
import { command } from '../frame/command.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { withStore } from '../frame/store.ts';

export const guardrailRemove = command({
  name: 'guardrail remove',
  summary: 'Remove a pattern for names of new tracks. Existing tracks stay.',
  positionals: [packageArgument, { name: 'pattern', summary: "The pattern, as 'larder guardrail list' shows it." }],
  examples: [String.raw`larder guardrail remove snap/hello '[0-9]+\.[0-9]+'`],
  confirm: {
    question: ({ positionals: { package: packageText, pattern } }) =>
      `Publishers can no longer create tracks of ${packageText} that match ${pattern}. Existing tracks stay.`,
    unattended: 'goes on',
  },

  run: ({ positionals: { package: packageText, pattern }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, actor }) => {
      const subject = await findPackage(records, packageText);
      await acts.do(removeGuardrail, { actor }, { package: subject, pattern });
      const object = `${subject.namespace}/${subject.name}`;
      return { text: `${object} no longer has the guardrail ${pattern}.`, json: { package: object, pattern } };
    }),
});
