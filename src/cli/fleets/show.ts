// larder fleet show
import { selectorText } from '#domain/fleets/fleet.ts';
import { readFleetInFull } from '#operations/fleets/present.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { fleetArgument } from './fleet-arguments.ts';

export const fleetShow = command({
  name: 'fleet show',
  summary: 'Show a fleet: the devices that it selects, and everything that it changes for them.',
  positionals: [fleetArgument],
  options: {
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 100_000,
      summary: 'The number of devices to show. Default: 20.',
    },
  },
  examples: ['larder fleet show pumps', 'larder fleet show pumps --limit 10000 --json'],

  run: ({ positionals: { fleet: name }, options: { limit = 20 }, data, world }) =>
    withStore({ data, world }, async ({ records }) => {
      const fleet = await readFleetInFull(records, name);
      const devices = (await records.fleets.selectors(name, '', limit)).map(selectorText);
      const more = fleet['device-count'] - devices.length;
      const rows = fleet.channels.map(
        ({ package: subject, channel, architecture, mode, revision, follows, withdrawn }) => [
          subject,
          channel,
          architecture ?? 'all',
          mode,
          `${follows ?? String(revision)}${withdrawn ? ' (withdrawn: gives nothing)' : ''}`,
        ],
      );
      const text = [
        `${name} selects devices by ${fleet.kind}: ${devices.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`,
        ...(fleet.source === null ? [] : [`It came from the site ${fleet.source} by a transfer.`]),
        `refresh window: ${fleet.window ?? 'none'}`,
        `hidden snaps: ${fleet.hidden.join(', ') || 'none'}`,
        '',
        rows.length === 0
          ? 'It changes no channel.'
          : table(['SNAP', 'CHANNEL', 'ARCHITECTURE', 'MODE', 'GIVES'], rows),
      ].join('\n');
      return { text, json: { ...fleet, devices } };
    }),
});
