// larder subscription list, larder subscription remove
import { unsubscribe } from '#acts/sites/subscriptions.ts';
import type { Subscription } from '#records/sites/subscriptions.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { parseSubscription } from './subscription.ts';

const pageSize = 500;

export const subscriptionList = command({
  name: 'subscription list',
  summary: 'List the subscriptions of this site.',
  examples: ['larder subscription list', 'larder subscription list --json'],

  run: ({ data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const all: Subscription[] = [];
      for (let [namespace, name] = ['', '']; ;) {
        const page = await records.subscriptions.after(namespace, name, pageSize);
        all.push(...page);
        const last = page.at(-1);
        if (last === undefined || page.length < pageSize) break;
        ({ namespace, name } = last);
      }
      const rows = all.map((subscription) => [
        ...[
          `${subscription.namespace}/${subscription.name}`,
          subscription.channels.join(', '),
          subscription.architectures.join(', '),
        ],
        subscription.because ?? '-',
      ]);
      return {
        text:
          rows.length === 0
            ? "There are no subscriptions; 'larder subscription add' adds them."
            : table(['PACKAGE', 'CHANNELS', 'ARCHITECTURES', 'BECAUSE OF'], rows),
        json: {
          subscriptions: all.map(({ addedAt, addedBy, ...subscription }) => ({
            ...subscription,
            'added-at': addedAt,
            'added-by': addedBy,
          })),
        },
      };
    }),
});

export const subscriptionRemove = command({
  name: 'subscription remove',
  summary: 'Remove subscriptions. Packages that were already received stay.',
  positionals: [
    { name: 'packages', value: 'NAMESPACE/NAME', summary: 'Packages, such as snap/hello.', repeated: true },
  ],
  examples: ['larder subscription remove snap/hello'],

  run: ({ positionals: { packages }, data, world }) => {
    if (packages.length === 0) throw new UsageError('name the packages');
    const subscriptions = packages.map(parseSubscription);
    return withStore({ data, world }, async ({ acts, person }) => {
      for (const subscription of subscriptions) await acts.do(unsubscribe, person, subscription);
      return { text: `No longer subscribed to: ${packages.join(', ')}.`, json: { packages } };
    });
  },
});
