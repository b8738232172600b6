// larder device list
import { after as laterBy, days, timestamp } from '#domain/clock.ts';
import type { SeenDevice } from '#records/fleets/seen-devices.ts';
import { command } from '../frame/command.ts';
import { csvText } from '../frame/csv.ts';
import { readDuration } from '../frame/duration.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

export const deviceList = command({
  name: 'device list',
  summary: 'List the devices that called, with the time of their last contact.',
  description:
    'The store remembers devices while devices.remember is on, for 400 days after their last contact, by the ' +
    'session for their serial. Their revisions and the results of refreshes are as the device reported them.',
  options: {
    silent: {
      type: 'string',
      value: 'DURATION',
      summary: 'Only devices that have not called for this long, such as 45d.',
    },
    csv: { type: 'boolean', summary: 'Print lines for a spreadsheet.' },
    after: { type: 'string', value: 'BRAND/MODEL/SERIAL', summary: 'Only devices after this one in the list.' },
    limit: {
      type: 'integer',
      value: 'COUNT',
      minimum: 1,
      maximum: 100_000,
      summary: 'The number of devices. Default: 1000.',
    },
  },
  examples: ['larder device list', 'larder device list --silent 45d --csv'],

  run({ options: { silent, csv: asCsv, after = '', limit = 1000 }, data, world }) {
    const [brand = '', model = '', serial = ''] = after.split('/');
    const silence = silent === undefined ? 0 : readDuration(silent, '--silent', days(400));
    return withStore({ data, world }, async ({ records, now }) => {
      const since = timestamp(laterBy(now(), -silence));
      const devices = await records.seenDevices.list([brand, model, serial], since, limit + 1);
      const shown = devices.slice(0, limit);
      const more = devices.length > limit;
      const rows = shown.map((device) => [device.brandId, device.model, device.serial, device.firstAt, device.lastAt]);
      const json = { devices: shown.map(presentDevice), more };
      if (asCsv) {
        const headings = ['brand-id', 'model', 'serial', 'first-contact', 'last-contact'];
        return { text: [headings, ...rows].map(csvText).join('').trimEnd(), json };
      }
      const last = shown.at(-1);
      const hint =
        more && last ? `\nThere are more; --after ${last.brandId}/${last.model}/${last.serial} shows them.` : '';
      const text = table(['BRAND', 'MODEL', 'SERIAL', 'FIRST CONTACT', 'LAST CONTACT'], rows) + hint;
      return { text: shown.length === 0 ? 'There are none.' : text, json };
    });
  },
});

export const presentDevice = ({ brandId, model, serial, firstAt, lastAt }: SeenDevice) => ({
  'brand-id': brandId,
  model,
  serial,
  'first-contact': firstAt,
  'last-contact': lastAt,
});
