// larder device refreshes
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { packageArgument, findPackage } from '../packages/package-argument.ts';

export const deviceRefreshes = command({
  name: 'device refreshes',
  summary: 'Show the refreshes of a snap by revision: offered to devices, installed, held back, and failed.',
  description:
    'Devices with a session count while devices.remember is on. A device installed a revision if it later called ' +
    'with it. A refresh failed if the device was offered the same revision again an hour later or more, unless ' +
    'the device reported that its administrator or another snap holds its refreshes.',
  positionals: [packageArgument],
  examples: ['larder device refreshes snap/hello'],

  run: ({ positionals: { package: packageText }, data, world }) =>
    withStore({ data, world }, async ({ records, now }) => {
      const { id } = await findPackage(records, packageText);
      const counts = await records.seenDevices.offersOf(id);
      const { inAll, recent, deltas } = await records.downloads.of(id, now());
      const rows = counts.map(({ channel, revision, offered, took, held, failed }) => [
        ...[String(revision), channel, ...[offered, took, held, failed].map(String)],
        `${String(offered === 0 ? 0 : Math.floor((100 * took) / offered))} %`,
      ]);
      const list = table(['REVISION', 'CHANNEL', 'OFFERED', 'TOOK', 'HELD', 'FAILED', 'TOOK OF THOSE'], rows);
      const downloads = `Downloads: ${String(inAll)} in all, ${String(recent)} of them in the last 30 days, ${String(deltas)} as a delta.`;
      const none = `No device that is remembered was offered a refresh of ${packageText}.`;
      return {
        text: `${rows.length === 0 ? none : list}\n${downloads}`,
        json: { package: packageText, refreshes: counts, downloads: { 'in-all': inAll, recent, 'as-delta': deltas } },
      };
    }),
});
