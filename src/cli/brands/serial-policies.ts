// larder serial-policy list, add and delete
import { noModel } from '#acts/brands/models.ts';
import { createSerialPolicy, deleteSerialPolicy } from '#acts/brands/serial-policies.ts';
import { presentSerialPolicy } from '#operations/brands/serial-policies/present.ts';
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { findBrand, findSigningKey } from '../keys/find-keys.ts';
import { brandArgument, modelArgument } from './brand-arguments.ts';

export const serialPolicyList = command({
  name: 'serial-policy list',
  summary: 'List the serial policies of a model, newest first. The newest one applies.',
  positionals: [brandArgument, modelArgument],
  examples: ['larder serial-policy list acme pump-2', 'larder serial-policy list acme pump-2 --json'],

  run: ({ positionals: { brand, model }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { records } = store;
      const { accountId } = await findBrand(store, brand);
      if ((await records.models.find(accountId, model)) === undefined) throw noModel(accountId, model);
      const policies = await records.serialPolicies.list(accountId, model);
      const rows = policies.map(({ revision, authority, signingKeySha3384, createdAt }) => [
        String(revision),
        authority,
        signingKeySha3384,
        createdAt,
      ]);
      return {
        text:
          rows.length === 0
            ? `${accountId}/${model} has no serial policy, so its devices get no serials.`
            : table(['POLICY', 'SIGNED BY', 'KEY', 'CREATED'], rows),
        json: { policies: policies.map(presentSerialPolicy) },
      };
    }),
});

export const serialPolicyAdd = command({
  name: 'serial-policy add',
  summary: 'Set the signing key for the serials of a model from now on.',
  description:
    'Serials that devices have stay valid. A key of another brand signs only if the model assertion names that brand ' +
    'as serial-authority.',
  positionals: [brandArgument, modelArgument, { name: 'key', summary: 'The name of the key, or its id.' }],
  options: {
    authority: {
      type: 'string',
      value: 'ACCOUNT-ID',
      summary: 'The brand that has the key. Default: the brand of the model.',
    },
  },
  examples: [
    'larder serial-policy add acme pump-2 serials',
    'larder serial-policy add acme pump-2 serials --authority acme-factory',
  ],

  run: ({ positionals: { brand, model: modelName, key: nameOrId }, options, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { accountId: brandAccountId } = await findBrand(store, brand);
      const key = await findSigningKey(store, nameOrId, options.authority ?? brandAccountId);
      const policy = await store.acts.do(createSerialPolicy, store.person, {
        brandAccountId,
        modelName,
        keyId: key.sha3_384,
        principal: { accountId: brandAccountId, storeAdministrator: true },
      });
      return {
        text: `The key ${key.name} signs serials of ${brandAccountId}/${modelName}, by policy ${String(policy.revision)}.`,
        json: presentSerialPolicy(policy),
      };
    }),
});

export const serialPolicyDelete = command({
  name: 'serial-policy delete',
  summary: 'Delete a serial policy. The newest remaining policy then applies.',
  positionals: [
    brandArgument,
    modelArgument,
    { name: 'policy', summary: "The number of the policy, as 'larder serial-policy list' shows it." },
  ],
  examples: ['larder serial-policy delete acme pump-2 1'],
  confirm: {
    question: ({ positionals: { brand, model, policy } }) =>
      `If policy ${policy} is in force, the newest of the others applies to new devices of ${brand}/${model}. Without ` +
      'any, they get no serial.',
    unattended: 'goes on',
  },

  run: ({ positionals: { brand, model: modelName, policy: revision }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { accountId: brandAccountId } = await findBrand(store, brand);
      await store.acts.do(deleteSerialPolicy, store.person, { brandAccountId, modelName, revision });
      const current = await store.records.serialPolicies.current(brandAccountId, modelName);
      const now =
        current === undefined
          ? 'none is left: its devices get no serials'
          : `policy ${String(current.revision)} applies`;
      return {
        text: `The serial policy ${revision} of ${brandAccountId}/${modelName} is deleted; ${now}.`,
        json: {
          'brand-account-id': brandAccountId,
          model: modelName,
          revision: Number(revision),
          current: current?.revision ?? null,
        },
      };
    }),
});
