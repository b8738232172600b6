// larder fleet create
import { createFleet } from '#acts/fleets/fleets.ts';
import { fleetKinds } from '#domain/fleets/fleet.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { listOption, readDeviceList } from './fleet-arguments.ts';

export const fleetCreate = command({
  name: 'fleet create',
  summary: 'Create a fleet: a name for devices by their serials, models, brands or stores.',
  description:
    'If two fleets select one device, the more specific one decides: serial before model, model before brand, brand ' +
    'before store. Serial, model and brand come from the session of the device. The id of the store comes from ' +
    'the request of the device; without it, the device belongs to this store.',
  positionals: [{ name: 'fleet', value: 'FLEET', summary: 'The name: lower-case letters, digits and dashes.' }],
  options: {
    serial: { type: 'string', value: 'BRAND/MODEL/SERIAL', summary: 'A device.', repeated: true },
    list: listOption,
    model: { type: 'string', value: 'BRAND/MODEL', summary: 'All devices of a model.', repeated: true },
    brand: { type: 'string', value: 'ACCOUNT-ID', summary: 'All devices of a brand.', repeated: true },
    store: { type: 'string', value: 'STORE-ID', summary: 'All devices that name this store.', repeated: true },
  },
  examples: ['larder fleet create pumps --model acme/pump', 'larder fleet create pilots --list pilots.txt'],

  run({ positionals: { fleet }, options, data, world }) {
    const devices = { ...options, serial: [...options.serial, ...readDeviceList(options.list)] };
    const kinds = fleetKinds.filter((kind) => devices[kind].length > 0);
    const [kind, other] = kinds;
    if (kind === undefined || other !== undefined)
      throw new UsageError('name devices of one kind: --serial or --list, --model, --brand, or --store');
    return withStore({ data, world }, async ({ acts, actor }) => {
      const selectors = [...new Set(devices[kind])];
      await acts.do(createFleet, { actor }, { fleet, kind, selectors });
      const count = selectors.length;
      return {
        text: `The fleet ${fleet} selects devices by ${kind}: ${count === 1 ? (selectors[0] ?? '') : `${String(count)} entries`}.`,
        json: { fleet, kind, devices: count },
      };
    });
  },
});
