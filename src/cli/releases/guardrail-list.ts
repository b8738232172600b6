// larder guardrail list
import { command } from '../frame/command.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';
import { withStore } from '../frame/store.ts';

export const guardrailList = command({
  name: 'guardrail list',
  summary: "List the patterns that a package's tracks may match.",
  positionals: [packageArgument],
  examples: ['larder guardrail list snap/hello', 'larder guardrail list snap/hello --json'],

  run: ({ positionals, data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const subject = await findPackage(records, positionals.package);
      const guardrails = await records.guardrails.list(subject.id);
      return {
        text: guardrails.length === 0 ? 'There is none.' : guardrails.map(({ pattern }) => pattern).join('\n'),
        json: { guardrails: guardrails.map(({ pattern, createdAt }) => ({ pattern, 'created-at': createdAt })) },
      };
    }),
});
