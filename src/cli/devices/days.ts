// larder device days
import { deviceDays } from '#operations/packages/usage.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { daysOption } from '../packages/usage.ts';

export const deviceDaysCommand = command({
  name: 'device days',
  summary: 'Show how many devices called on each of the last days, and how many refreshes they installed.',
  description:
    'Days are in UTC and are kept for 90 days. Devices are counted while devices.remember is on, each once a day.',
  options: { days: daysOption },
  examples: ['larder device days', 'larder device days --days 90 --json'],

  run: ({ options: { days = 30 }, data, world }) =>
    withStore({ data, world }, async ({ records, config, now }) => {
      const statistics = await deviceDays({ records, remembered: config.devices.remember, now: now(), days });
      const rows = statistics.days.map((entry) => [entry.day, String(entry.devices), String(entry.refreshes)]);
      return { text: table(['DAY', 'DEVICES', 'REFRESHES'], rows), json: statistics };
    }),
});
