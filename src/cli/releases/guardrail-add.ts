// larder guardrail add
import { addGuardrail } from '#acts/releases/tracks.ts';
import { command } from '../frame/command.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { withStore } from '../frame/store.ts';

export const guardrailAdd = command({
  name: 'guardrail add',
  summary: 'Allow the publishers of a package to create tracks with names that match a pattern.',
  description:
    'A pattern is a simple regular expression of characters, classes, groups, alternatives and quantifiers. It ' +
    'must match the whole name. Back references, lookarounds and nested quantifiers are refused.',
  positionals: [packageArgument, { name: 'pattern', summary: 'The pattern, quoted for the shell.' }],
  examples: [String.raw`larder guardrail add snap/hello '[0-9]+\.[0-9]+'`],

  run: ({ positionals: { package: packageText, pattern }, data, world }) =>
    withStore({ data, world }, async ({ records, acts, actor }) => {
      const subject = await findPackage(records, packageText);
      await acts.do(addGuardrail, { actor }, { package: subject, pattern });
      const object = `${subject.namespace}/${subject.name}`;
      return { text: `${object} may have tracks that match ${pattern}.`, json: { package: object, pattern } };
    }),
});
