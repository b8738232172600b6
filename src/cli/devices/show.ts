// larder device show
import { Refusal } from '#domain/refusal.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { presentDevice } from './list.ts';

export const deviceShow = command({
  name: 'device show',
  summary: 'Show a device that called: the time of its last contact and the snaps that it reported.',
  positionals: [
    { name: 'device', value: 'BRAND/MODEL/SERIAL', summary: "The device, as 'larder device list' shows it." },
  ],
  examples: ['larder device show acme/pump/0001'],

  run({ positionals: { device }, data, world }) {
    const [brand = '', model = '', serial = '', ...rest] = device.split('/');
    if (serial === '' || rest.length > 0) {
      throw new UsageError(`a device is named BRAND/MODEL/SERIAL, such as acme/pump/0001, not '${device}'`);
    }
    return withStore({ data, world }, async ({ records }) => {
      const seen = await records.seenDevices.find(brand, model, serial);
      if (seen === undefined) {
        throw new Refusal(
          'resource-not-found',
          `No device ${device} has called, or devices.remember was off when it did; 'larder device list' shows the devices that have called.`,
        );
      }
      const held = [];
      for (const { packageId, revision } of seen.holds) {
        held.push({ id: packageId, name: (await records.packages.byId(packageId))?.name ?? null, revision });
      }
      const rows = held.map(({ id, name, revision }) => [name ?? id, String(revision)]);
      const snapTable =
        rows.length === 0 ? 'It has not reported any snap of this store.' : table(['SNAP', 'REVISION'], rows);
      return {
        text: `${device}\nfirst contact ${seen.firstAt}, last contact ${seen.lastAt}\n\n${snapTable}`,
        json: { ...presentDevice(seen), holds: held },
      };
    });
  },
});
