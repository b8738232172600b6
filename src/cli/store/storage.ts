// larder storage
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { formatBytes } from '#domain/byte-size.ts';

export const storage = command({
  name: 'storage',
  summary: 'Show the publishers and packages that use the most disk space.',
  description:
    'Content that several packages of one publisher share counts once for the publisher and once for each ' +
    'package. The total counts it once.',
  options: {
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 1000,
      summary: 'The number of publishers and of packages. Default: 20.',
    },
  },
  examples: ['larder storage', 'larder storage --limit 100 --json'],

  run({ options, data, world }) {
    const { limit = 20 } = options;
    return withStore({ data, world }, async ({ records: { inventory, accounts } }) => {
      const [whole, packages, publishers] = await Promise.all([
        inventory.bytes(),
        inventory.largestPackages(limit),
        inventory.largestPublishers(limit),
      ]);
      const names = await accounts.byIds(publishers.map(({ owner }) => owner));
      const text = [
        `${formatBytes(whole)} for all packages.`,
        table(
          ['PUBLISHER', 'PACKAGES', 'DISK'],
          publishers.map((publisher) => [
            names.get(publisher.owner)?.username ?? publisher.owner,
            String(publisher.packages),
            formatBytes(publisher.bytes),
          ]),
        ),
        table(
          ['PACKAGE', 'DISK'],
          packages.map((entry) => [entry.owner, formatBytes(entry.bytes)]),
        ),
      ].join('\n\n');
      return { text, json: { bytes: whole, packages, publishers } };
    });
  },
});
