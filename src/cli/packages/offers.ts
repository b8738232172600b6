// larder package offers
import { timestamp } from '#domain/clock.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

export const packageOffers = command({
  name: 'package offers',
  summary: 'List the packages that are offered to other publishers and not answered yet.',
  examples: ['larder package offers', 'larder package offers --json'],

  run: ({ data, world }) =>
    withStore({ data, world }, async ({ records, now }) => {
      const offers = await records.packageOffers.open(timestamp(now()));
      const rows = offers.map(({ namespace, name, offeredBy, accountId, username, expiresAt }) => [
        `${namespace}/${name}`,
        offeredBy,
        `${accountId} (${username})`,
        expiresAt,
      ]);
      return {
        text: rows.length === 0 ? 'Nothing is offered.' : table(['PACKAGE', 'FROM', 'TO', 'UNTIL'], rows),
        json: {
          offers: offers.map((offer) => ({
            namespace: offer.namespace,
            name: offer.name,
            from: offer.offeredBy,
            to: { id: offer.accountId, username: offer.username },
            'offered-at': offer.offeredAt,
            'expires-at': offer.expiresAt,
          })),
        },
      };
    }),
});
