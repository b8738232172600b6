// larder package usage
import { formatCount } from '#domain/quantities.ts';
import { readPackageDays } from '#operations/packages/usage.ts';
import { daysKept } from '#records/packages/package-days.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { packageArgument, findPackage } from './package-argument.ts';

/** The option of commands that show one row per day. */
export const daysOption = {
  type: 'integer',
  value: 'COUNT',
  minimum: 1,
  maximum: daysKept,
  summary: 'The number of days. Default: 30.',
} as const;

export const packageUsageCommand = command({
  name: 'package usage',
  summary: 'Show the usage of a package by day: downloads, devices that have it, and refreshes that they installed.',
  description:
    'Days are in UTC and are kept for 90 days. Devices are counted while devices.remember is on. A device that ' +
    'called, and reported the package then or before, counts once a day.',
  positionals: [packageArgument],
  options: { days: daysOption },
  examples: ['larder package usage snap/hello', 'larder package usage charm/hello-operator --days 90 --json'],

  run: ({ positionals: { package: packageText }, options: { days = 30 }, data, world }) =>
    withStore({ data, world }, async ({ records, config, now }) => {
      const { id } = await findPackage(records, packageText);
      const usage = await readPackageDays(id, { records, remembered: config.devices.remember, now: now(), days });
      const rows = usage.days.map((entry) => [
        entry.day,
        ...[entry.downloads, entry.devices, entry.refreshes].map(String),
      ]);
      const { total, 'as-delta': asDelta } = usage.downloads;
      return {
        text: `${table(['DAY', 'DOWNLOADS', 'DEVICES', 'REFRESHES'], rows)}\n${formatCount(total, 'download')} in all, ${String(asDelta)} of them as a delta.`,
        json: { package: packageText, ...usage },
      };
    }),
});
