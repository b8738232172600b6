// larder transfer preview
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { narrowing, present, seen, shown } from './looking.ts';

export const transferPreview = command({
  name: 'transfer preview',
  summary: 'Show what a transfer that waits here would change, on whose word, and what stands in its way.',
  description:
    'Exit code 1 says that something stands in its way. What is local wins: a name that somebody has here, a revision that is here ' +
    'with other content and a package of this site are never changed.',
  positionals: [{ name: 'id', summary: 'The first digits of the id of the transfer.' }],
  options: narrowing,
  examples: ['larder transfer preview 3f9a01', "larder transfer preview 3f9a01 --without 'charm/*' --json"],

  run: ({ positionals: { id }, options, data, world }) =>
    withStore({ data, world }, async (store) => {
      const found = await seen(store, id, options);
      return { text: shown(found), json: present(found), exitCode: found.plan.problems.length === 0 ? 0 : 1 };
    }),
});
