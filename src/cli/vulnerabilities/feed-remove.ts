// larder feed remove
import { removeFeed } from '#acts/vulnerabilities/feeds.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';

export const feedRemove = command({
  name: 'feed remove',
  summary: 'Remove a feed of advisories. Its findings end with it.',
  positionals: [{ name: 'source', summary: "The name of the feed, as in 'larder feed list'." }],
  examples: ['larder feed remove debian --yes'],
  confirm: {
    question: ({ positionals: { source } }) => `The findings of the feed '${visible(source)}' end.`,
    unattended: 'refused',
  },

  run: ({ positionals: { source }, data, world }) =>
    withStore({ data, world }, async ({ acts, person }) => {
      await acts.do(removeFeed, person, { source });
      return { text: `The feed '${visible(source)}' was removed.`, json: { source } };
    }),
});
