// The page of a model: its serial policies and its api-key, with the forms to change them, and the deletion of the model.
import { createModel, deleteModel, noModel, updateModel } from '#acts/brands/models.ts';
import { createSerialPolicy, deleteSerialPolicy } from '#acts/brands/serial-policies.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { Refusal } from '#domain/refusal.ts';
import { shellWord } from '#domain/shell-word.ts';
import { html, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { Browsing } from '#macaroons/authority.ts';
import { caller } from '#operations/caller.ts';
import type { Model } from '#records/brands/models.ts';
import type { SerialPolicy } from '#records/brands/serial-policies.ts';
import type { ListedSigningKey } from '#records/keys/signing-keys.ts';
import { declareMessages } from '../messages.ts';
import { readActorLabels } from '../parts/actor-labels.ts';
import { choice, field, formOf } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { badge } from '../parts/notice.ts';
import { facts, table } from '../parts/table.ts';
import { count, identifier, time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { brandAddress } from './address.ts';

const withMessage = declareMessages({
  'model-created': 'The model is created. Choose the key that signs its serials next.',
  'serial-policy-added': 'The policy is added. The key signs the serials of the model from now on.',
  'serial-policy-deleted': 'The policy is deleted. The newest of the others applies.',
  'model-changed': 'The model is changed.',
  'model-deleted': 'The model is deleted.',
});

const modelsPath = '/console/brands/:brand_account_id/models';
const path = `${modelsPath}/:model_name` as const;
const policyPath = `${path}/serial-policies/:revision` as const;

export const modelAddress = (
  { brandAccountId, name }: Pick<Model, 'brandAccountId' | 'name'>,
  ...below: readonly string[]
): string => brandAddress(brandAccountId, 'models', name, ...below);

/** The form that creates a model, on the page of the brand. */
export const newModelForm = (browsing: Browsing, accountId: string): Html =>
  formOf(
    browsing,
    brandAddress(accountId, 'models'),
    html`${field({
        name: 'name',
        label: 'Name of the model',
        maxLength: 128,
        required: true,
        hint: 'As in the model assertion: lower-case letters, digits and single inner dashes, such as pump-2.',
      })}
      ${field({ name: 'series', label: 'Series', value: '16', maxLength: 40, required: true })} ${apiKeyField}
      <button>Create the model</button>`,
  );

const apiKeyField = field({
  name: 'api-key',
  label: 'Key that devices send',
  maxLength: 256,
  hint: html`The value of the header <code>api-key</code>, without which a device gets no serial. Empty for none.`,
});

export const consoleCreateModel = formHandler({
  name: 'console_create_model',
  path: modelsPath,
  summary: 'Add a device model to a brand.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'ConsoleModel',
  refuses: ['conflict'],

  async perform(call) {
    const { brand, body, acts } = call;
    const model = { brandAccountId: brand.accountId, name: body.name.trim(), series: body.series };
    await acts.do(createModel, caller(call), { ...model, apiKey: body['api-key'] || null });
    return withMessage(modelAddress(model), 'model-created');
  },
});

export const consoleModel = screen({
  name: 'console_model',
  path,
  summary:
    'Show a model with its serial policies, with forms to set the key of its serials and the key that devices send.',
  access: brandAdministrator('account-manage-metadata', true),
  query: 'ConsolePageQuery',

  async show({ brand, params, records, browsing }) {
    const model = await records.models.find(brand.accountId, params.model_name);
    if (model === undefined) throw noModel(brand.accountId, params.model_name);
    const policies = await records.serialPolicies.list(brand.accountId, model.name);
    const keys = await records.signingKeys.list(brand.accountId);
    const who = await readActorLabels(
      policies.map(({ createdBy }) => createdBy),
      records,
    );
    return {
      title: `Model ${model.name}`,
      lead: html`${
          policies.length === 0
            ? 'No key signs serials of the model, so its devices get none.'
            : 'The newest serial policy says which key signs the serials of new devices.'
        } <a href="${brandAddress(brand.accountId)}">To the brand <bdi>${brand.name}</bdi></a>`,
      content: html`${facts([
          ['Series', model.series],
          ['Devices send a key', hasApiKey(model) ? 'yes' : 'no'],
          ['Made', time(model.createdAt)],
        ])}
        <h2>Serial policies</h2>
        ${policyTable(model, policies, { keys, who })}
        ${formOf(browsing, modelAddress(model, 'serial-policies'), policyFields(keys))}
        ${hostCommand(`larder serial-policy add ${argumentsOf(model)} KEY`)}
        <h2>Key that devices send</h2>
        ${formOf(browsing, modelAddress(model, 'api-key'), html`${apiKeyField} <button class="second">Set the key</button>`)}
        ${hostCommand(`larder model change ${argumentsOf(model)} --api-key-stdin`)}
        <p><a href="${modelAddress(model, 'delete')}">Delete the model</a></p>`,
    };
  },
});

/** The model in a command on the host. */
const argumentsOf = ({ brandAccountId, name }: Pick<Model, 'brandAccountId' | 'name'>): string =>
  `${shellWord(brandAccountId)} ${shellWord(name)}`;

const hasApiKey = ({ apiKey }: Model): boolean => apiKey !== null && apiKey !== '';

const policyTable = (
  model: Model,
  policies: readonly SerialPolicy[],
  { keys, who }: { keys: readonly ListedSigningKey[]; who: (actor: string | null) => string },
): Html => {
  const nameOf = ({ signingKeySha3384, authority }: SerialPolicy): HtmlContent => {
    const own = keys.find(({ sha3_384 }) => sha3_384 === signingKeySha3384);
    return own?.name ?? html`${identifier(signingKeySha3384)} of <code>${authority}</code>`;
  };
  return table<SerialPolicy>({
    caption: 'Serial policies, newest first',
    columns: [
      {
        heading: 'Policy',
        cell: (policy) => html`${count(policy.revision)} ${policy === policies[0] ? badge('good', 'in force') : ''}`,
      },
      { heading: 'Serials are signed with', cell: nameOf },
      {
        heading: 'Since',
        cell: ({ createdAt, createdBy }) => html`<span>${time(createdAt)}, by ${who(createdBy)}</span>`,
      },
      {
        heading: 'Delete',
        cell: ({ revision }) =>
          html`<a href="${modelAddress(model, 'serial-policies', String(revision), 'delete')}"
            >Delete<span class="unseen"> policy ${revision}</span></a
          >`,
      },
    ],
    rows: policies,
    empty: 'The model has no serial policy.',
  });
};

const policyFields = (keys: readonly ListedSigningKey[]): Html =>
  html`${choice({ name: 'key', label: 'Key for the serials from now on', value: keys[0]?.sha3_384 ?? '' }, [
      ...keys.map(({ sha3_384, name }) => [sha3_384, name] as const),
      ['', keys.length === 0 ? 'The brand has no key yet' : 'A key of another brand'],
    ])}
    ${field({
      name: 'other-key',
      label: 'Id of a key of another brand',
      maxLength: 100,
      hint: html`Only if the model assertion names that brand as <code>serial-authority</code>; empty otherwise.`,
    })} <button>Add the policy</button>`;

export const consoleAddSerialPolicy = formHandler({
  name: 'console_add_serial_policy',
  path: `${path}/serial-policies`,
  summary: 'Set the signing key for the serials of a model from now on.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'ConsoleSerialPolicy',

  async perform(call) {
    const { brand, params, body, principal, acts } = call;
    const keyId = body['other-key'].trim() || body.key;
    if (keyId === '') throw new Refusal('api-error', 'Choose a key, or type the id of a key of another brand.');
    const model = { brandAccountId: brand.accountId, modelName: params.model_name };
    await acts.do(createSerialPolicy, caller(call), { ...model, keyId, principal });
    return withMessage(modelAddress({ ...model, name: model.modelName }), 'serial-policy-added');
  },
});

export const consoleAskDeleteSerialPolicy = screen({
  name: 'console_ask_delete_serial_policy',
  path: `${policyPath}/delete`,
  summary: 'Ask whether to delete a serial policy.',
  access: brandAdministrator('account-manage-metadata', false),

  show({ brand, params, browsing }) {
    const model = { brandAccountId: brand.accountId, name: params.model_name };
    const address = modelAddress(model, 'serial-policies', params.revision, 'delete');
    return {
      title: 'Delete the serial policy?',
      lead: `If policy ${params.revision} is in force, the newest of the others applies to new devices of ${model.name}. Without any, they get no serial. Devices keep the serials that they have.`,
      content: html`${formOf(browsing, address, html`<button class="grave">Delete the policy</button>`)}
        ${hostCommand(`larder serial-policy delete ${argumentsOf(model)} ${shellWord(params.revision)}`)}
        <p><a href="${modelAddress(model)}">Cancel</a></p>`,
    };
  },
});

export const consoleDeleteSerialPolicy = formHandler({
  name: 'console_delete_serial_policy',
  path: `${policyPath}/delete`,
  summary: 'Delete a serial policy. The newest remaining policy then applies.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'ConsoleForm',

  async perform(call) {
    const { brand, params, acts } = call;
    const { model_name: modelName, revision } = params;
    await acts.do(deleteSerialPolicy, caller(call), { brandAccountId: brand.accountId, modelName, revision });
    return withMessage(modelAddress({ brandAccountId: brand.accountId, name: modelName }), 'serial-policy-deleted');
  },
});

export const consoleSetModelApiKey = formHandler({
  name: 'console_set_model_api_key',
  path: `${path}/api-key`,
  summary: 'Set the key that devices of a model send, or remove it.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'ConsoleModelApiKey',

  async perform(call) {
    const { brand, params, body, acts } = call;
    const model = { brandAccountId: brand.accountId, name: params.model_name };
    await acts.do(updateModel, caller(call), { ...model, change: { apiKey: body['api-key'] || null } });
    return withMessage(modelAddress(model), 'model-changed');
  },
});

export const consoleAskDeleteModel = screen({
  name: 'console_ask_delete_model',
  path: `${path}/delete`,
  summary: 'Ask whether to delete a device model.',
  access: brandAdministrator('account-manage-metadata', false),

  show({ brand, params, browsing }) {
    const model = { brandAccountId: brand.accountId, name: params.model_name };
    return {
      title: `Delete the model ${model.name}?`,
      lead: 'The model must have no serial policies and no entries in the remodel allowlist. Its devices get no new serials.',
      content: html`${formOf(browsing, modelAddress(model, 'delete'), html`<button class="grave">Delete the model</button>`)}
        ${hostCommand(`larder model delete ${argumentsOf(model)}`)}
        <p><a href="${modelAddress(model)}">Cancel</a></p>`,
    };
  },
});

export const consoleDeleteModel = formHandler({
  name: 'console_delete_model',
  path: `${path}/delete`,
  summary: 'Delete a device model that has no serial policies and no entries in the remodel allowlist.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'ConsoleForm',
  refuses: ['conflict'],

  async perform(call) {
    const { brand, params, acts } = call;
    await acts.do(deleteModel, caller(call), { brandAccountId: brand.accountId, name: params.model_name });
    return withMessage(brandAddress(brand.accountId), 'model-deleted');
  },
});
