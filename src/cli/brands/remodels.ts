// larder remodel list, permit and remove
import { addRemodels, deleteRemodels } from '#acts/brands/remodel-allowlist.ts';
import { presentRemodelEntry } from '#operations/brands/remodel-allowlist/present.ts';
import type { Remodel } from '#records/brands/remodel-allowlist.ts';
import { command, UsageError } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { findBrand } from '../keys/find-keys.ts';
import { brandArgument } from './brand-arguments.ts';

const remodelOptions = {
  from: { type: 'string', value: 'MODEL', summary: 'The model that devices have now.', required: true },
  serial: { type: 'string', value: 'SERIAL', summary: 'Only the device with this serial. Default: all of the model.' },
  to: { type: 'string', value: 'MODEL', summary: 'The model that they may become.', required: true },
} as const;

interface RemodelArguments {
  readonly from: string;
  readonly serial: string | undefined;
  readonly to: string;
}

const remodelOf = ({ from, serial, to }: RemodelArguments): Remodel => ({
  fromModel: from,
  fromSerial: serial ?? null,
  toModel: to,
});

const inWords = ({ fromModel, fromSerial, toModel }: Remodel): string =>
  `from ${fromModel}${fromSerial === null ? '' : ` with the serial ${fromSerial}`} to ${toModel}`;

/** Maximum lengths in characters; the interface has the same. */
const maxSerialLength = 256;
const maxDescriptionLength = 1000;

/** The maximum number of entries in the list. */
const maxRemodels = 10_000;

export const remodelList = command({
  name: 'remodel list',
  summary: 'List the permitted remodels of a brand: which devices may become another model.',
  positionals: [brandArgument],
  examples: ['larder remodel list acme', 'larder remodel list acme --json'],

  run: ({ positionals: { brand }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { accountId } = await findBrand(store, brand);
      const all = { fromModel: null, toModel: null };
      const entries = await store.records.remodelAllowlist.list(accountId, undefined, all, maxRemodels);
      const rows = entries.map(({ fromModel, fromSerial, toModel, description }) => [
        fromModel,
        fromSerial ?? 'all',
        toModel,
        description ?? '-',
      ]);
      return {
        text:
          rows.length === 0
            ? `No device of ${accountId} may become another model.`
            : table(['FROM', 'SERIAL', 'TO', 'DESCRIPTION'], rows),
        json: { allowlist: entries.map(presentRemodelEntry) },
      };
    }),
});

export const remodelPermit = command({
  name: 'remodel permit',
  summary: 'Permit the devices of a model, or one of them, to become another model of the brand.',
  positionals: [brandArgument],
  options: {
    ...remodelOptions,
    description: { type: 'string', value: 'TEXT', summary: 'Why, for people who read the list.' },
  },
  examples: [
    'larder remodel permit acme --from pump-1 --to pump-2',
    "larder remodel permit acme --from pump-1 --serial 0001 --to pump-2 --description 'The test bench.'",
  ],

  run({ positionals: { brand }, options: { description, ...options }, data, world }) {
    if ((options.serial?.length ?? 0) > maxSerialLength)
      throw new UsageError(`--serial has at most ${String(maxSerialLength)} characters`);
    if ((description?.length ?? 0) > maxDescriptionLength)
      throw new UsageError(`--description has at most ${String(maxDescriptionLength)} characters`);
    return withStore({ data, world }, async (store) => {
      const { accountId: brandAccountId } = await findBrand(store, brand);
      const remodels = [{ ...remodelOf(options), description: description ?? null }];
      const entries = await store.acts.do(addRemodels, store.person, { brandAccountId, remodels });
      return {
        text: `Devices of ${brandAccountId} may change ${inWords(remodelOf(options))}.`,
        json: { allowlist: entries.map(presentRemodelEntry) },
      };
    });
  },
});

export const remodelRemove = command({
  name: 'remodel remove',
  summary: 'Remove a permitted remodel.',
  positionals: [brandArgument],
  options: remodelOptions,
  examples: ['larder remodel remove acme --from pump-1 --to pump-2'],
  confirm: {
    question: ({ options }) =>
      `A device can no longer change ${inWords(remodelOf(options))}. Devices that have changed stay as they are.`,
    unattended: 'goes on',
  },

  run: ({ positionals: { brand }, options, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { accountId: brandAccountId } = await findBrand(store, brand);
      const remodel = remodelOf(options);
      await store.acts.do(deleteRemodels, store.person, { brandAccountId, remodels: [remodel] });
      return {
        text: `Devices of ${brandAccountId} can no longer change ${inWords(remodel)}.`,
        json: { 'from-model': remodel.fromModel, 'from-serial': remodel.fromSerial, 'to-model': remodel.toModel },
      };
    }),
});
