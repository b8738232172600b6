// larder model list, create, change and delete
import { createModel, deleteModel, updateModel } from '#acts/brands/models.ts';
import { series } from '#assertions/format/types.ts';
import type { Model } from '#records/brands/models.ts';
import { command, Failure, UsageError, type World } from '../frame/command.ts';
import { readSecret } from '../frame/stdin.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { findBrand, findBrands } from '../keys/find-keys.ts';
import { brandArgument, modelArgument } from './brand-arguments.ts';

const apiKeyOption = {
  type: 'boolean',
  summary: 'Read the key that devices send as the header api-key from standard input. Others get no serial.',
} as const;

/** Maximum length of the key that devices send, in characters; the interface has the same. */
const maxApiKeyLength = 256;

async function readApiKey({ stdin }: World): Promise<string> {
  const apiKey = await readSecret(stdin, 'key');
  if (apiKey.length <= maxApiKeyLength) return apiKey;
  throw new Failure(`the key has more than ${String(maxApiKeyLength)} characters; take a shorter one`);
}

const sendsKey = ({ apiKey }: Model): boolean => apiKey !== null && apiKey !== '';

/** A model for programs; never with the key itself. */
const present = (model: Model) => ({
  'brand-account-id': model.brandAccountId,
  name: model.name,
  series: model.series,
  'has-api-key': sendsKey(model),
  'created-at': model.createdAt,
});

export const modelList = command({
  name: 'model list',
  summary: 'List the device models of all brands, or of one.',
  positionals: [{ ...brandArgument, optional: true }],
  examples: ['larder model list', 'larder model list acme --json'],

  run: ({ positionals: { brand }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const models = [];
      for (const { accountId } of await findBrands(store, brand))
        models.push(...(await store.records.models.list(accountId)));
      const rows = [];
      for (const model of models) {
        const policy = await store.records.serialPolicies.current(model.brandAccountId, model.name);
        const key = policy === undefined ? 'none: no serials' : policy.signingKeySha3384;
        rows.push([model.brandAccountId, model.name, sendsKey(model) ? 'yes' : 'no', key]);
      }
      return {
        text:
          rows.length === 0
            ? "There are no models; 'larder model create' makes one."
            : table(['BRAND', 'MODEL', 'SENDS A KEY', 'KEY OF ITS SERIALS'], rows),
        json: { models: models.map(present) },
      };
    }),
});

export const modelCreate = command({
  name: 'model create',
  summary: 'Add a device model to a brand.',
  description: "Its devices get serials after 'larder serial-policy add' has set the key that signs them.",
  positionals: [
    brandArgument,
    {
      name: 'model',
      summary: 'The name, as in the model assertion: lower-case letters, digits and single inner dashes.',
    },
  ],
  options: { 'api-key-stdin': apiKeyOption },
  examples: ['larder model create acme pump-2', 'larder model create acme pump-2 --api-key-stdin'],

  async run({ positionals: { brand, model: name }, options, data, world }) {
    const apiKey = options['api-key-stdin'] ? await readApiKey(world) : null;
    return withStore({ data, world }, async (store) => {
      const { accountId: brandAccountId } = await findBrand(store, brand);
      const model = await store.acts.do(createModel, store.person, { brandAccountId, name, series, apiKey });
      return { text: `The brand ${brandAccountId} has the model ${name}.`, json: present(model) };
    });
  },
});

export const modelChange = command({
  name: 'model change',
  summary: 'Set the key that the devices of a model send, or remove it.',
  positionals: [brandArgument, modelArgument],
  options: {
    'api-key-stdin': apiKeyOption,
    'no-api-key': { type: 'boolean', summary: 'Give serials to devices that send no key, too.' },
  },
  examples: ['larder model change acme pump-2 --api-key-stdin', 'larder model change acme pump-2 --no-api-key'],

  async run({ positionals: { brand, model: name }, options, data, world }) {
    if (options['api-key-stdin'] === options['no-api-key'])
      throw new UsageError("'model change' needs either --api-key-stdin or --no-api-key");
    const apiKey = options['api-key-stdin'] ? await readApiKey(world) : null;
    return withStore({ data, world }, async (store) => {
      const { accountId: brandAccountId } = await findBrand(store, brand);
      const model = await store.acts.do(updateModel, store.person, { brandAccountId, name, change: { apiKey } });
      const text = `Devices of ${brandAccountId}/${name} ${apiKey === null ? 'need no key' : 'must send the new key'} to get a serial.`;
      return { text, json: present(model) };
    });
  },
});

export const modelDelete = command({
  name: 'model delete',
  summary: 'Delete a device model that has no serial policies and no entries in the remodel allowlist.',
  positionals: [brandArgument, modelArgument],
  examples: ['larder model delete acme pump-2'],
  confirm: {
    question: ({ positionals: { brand, model } }) =>
      `Devices of ${brand}/${model} get no new serials. They keep the serials that they have.`,
    unattended: 'goes on',
  },

  run: ({ positionals: { brand, model: name }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { accountId: brandAccountId } = await findBrand(store, brand);
      await store.acts.do(deleteModel, store.person, { brandAccountId, name });
      return {
        text: `The model ${brandAccountId}/${name} is deleted.`,
        json: { 'brand-account-id': brandAccountId, name },
      };
    }),
});
