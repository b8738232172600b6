// larder fleet list
import { presentFleet } from '#operations/fleets/present.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

/** The maximum number of fleets in the list. */
const maxFleets = 10_000;

export const fleetList = command({
  name: 'fleet list',
  summary: 'List the fleets.',
  examples: ['larder fleet list'],

  run: ({ data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const fleets = await records.fleets.list('', maxFleets);
      const rows = [];
      for (const { name, kind, refreshWindow } of fleets)
        rows.push([name, kind, String(await records.fleets.countSelectors(name)), refreshWindow ?? '-']);
      return {
        text: rows.length === 0 ? 'There are no fleets.' : table(['FLEET', 'SELECTS BY', 'ENTRIES', 'WINDOW'], rows),
        json: { fleets: fleets.map(presentFleet) },
      };
    }),
});
