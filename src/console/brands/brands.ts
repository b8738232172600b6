// The pages of brands: the list, and a brand with its models and signing keys, each with the form to add one.
import { createBrand } from '#acts/brands/brands.ts';
import { brandAdministrator, storeAdministrator } from '#access/access-rules.ts';
import { Refusal } from '#domain/refusal.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type HtmlContent, type Html } from '#http/pages/html.ts';
import { caller } from '#operations/caller.ts';
import { pageOf, placeOf } from '#operations/page.ts';
import type { Brand } from '#records/brands/brands.ts';
import type { Model } from '#records/brands/models.ts';
import { privateKeyPlace, readBrandKeys, registrationBadge, type BrandSigningKey } from '../keys/brand-keys.ts';
import { newKeyForm, signingKeyAddress } from '../keys/signing-key.ts';
import { declareMessages } from '../messages.ts';
import { field, formOf } from '../parts/form.ts';
import { hostCommand } from '../parts/host-command.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { identifier, time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { brandAddress, brandsAddress } from './address.ts';
import { modelAddress, newModelForm } from './models.ts';

const withMessage = declareMessages({
  'brand-made': 'The account is a brand. Make a signing key and a model next.',
});

type BrandListRow = Pick<Brand, 'accountId' | 'name' | 'createdAt' | 'createdBy'>;

export const consoleBrands = screen({
  name: 'console_brands',
  path: brandsAddress,
  summary: 'List the brands of the store, with the form to make an account a brand.',
  access: storeAdministrator('store-view'),
  query: 'ConsolePageQuery',

  async show({ query, records, browsing }) {
    const [after] = placeOf(query, [''] as const);
    const brands = await records.inventory.brands(after, pageSize + 1);
    const { entries, next } = pageOf(brands, pageSize, ({ accountId }) => [accountId]);
    const accounts = await records.accounts.byIds(entries.map(({ accountId }) => accountId));
    return {
      title: 'Brands and keys',
      lead: 'Brands make devices. They have models and signing keys, and the store signs serials and the assertions of snaps with these keys.',
      content: html`${table<BrandListRow>({
          caption: 'Brands by the ids of their accounts',
          columns: [
            {
              heading: 'Brand',
              cell: ({ accountId, name }) => html`<a href="${brandAddress(accountId)}"><bdi>${name}</bdi></a>`,
            },
            {
              heading: 'Account',
              cell: ({ accountId }) => renderAccount(accountId, accounts.get(accountId)?.username),
            },
            { heading: 'Made', cell: ({ createdAt }) => time(createdAt) },
          ],
          rows: entries,
          empty: 'There are no brands.',
        })}
        ${nextPage(next === null ? undefined : `${brandsAddress}?cursor=${next}`)}
        <h2>Make an account a brand</h2>
        ${formOf(
          browsing,
          brandsAddress,
          html`${field({
              name: 'account',
              label: 'Account id',
              maxLength: 64,
              required: true,
              hint: 'For keys that devices trust, the account must have the same id at the online store.',
            })}
            ${field({ name: 'name', label: 'Name of the brand', maxLength: 128, required: true })}
            <button>Make the brand</button>`,
        )}
        ${hostCommand('larder brand create --account ACCOUNT --name NAME')}`,
    };
  },
});

/** The user name of an account with a link to its page; the id of an account that is not here. */
const renderAccount = (id: string, username: string | undefined): Html =>
  username === undefined
    ? identifier(id)
    : html`<a href="/console/people/${encodeURIComponent(id)}"><bdi>${username}</bdi></a>`;

export const consoleCreateBrand = formHandler({
  name: 'console_create_brand',
  path: brandsAddress,
  summary: 'Make an account a brand, which has models and signing keys.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleNewBrand',
  refuses: ['conflict', 'resource-not-found'],

  async perform(call) {
    const { body, records, acts } = call;
    const accountId = body.account.trim();
    if ((await records.accounts.find(accountId)) === undefined)
      throw new Refusal('resource-not-found', `There is no account with the id '${accountId}'.`);
    await acts.do(createBrand, caller(call), { accountId, name: body.name });
    return withMessage(brandAddress(accountId), 'brand-made');
  },
});

export const consoleBrand = screen({
  name: 'console_brand',
  path: '/console/brands/:brand_account_id',
  summary: 'Show a brand with its models and signing keys and the state of each key, with the forms to add some.',
  access: brandAdministrator('account-manage-metadata', true),
  query: 'ConsolePageQuery',

  async show({ brand, records, browsing, now }) {
    const keys = await readBrandKeys(brand, records, now());
    const models = await modelsOf(brand, records, keys);
    const account = await records.accounts.find(brand.accountId);
    const good = keys.filter(({ status }) => status === 'registered').length;
    return {
      title: brand.name,
      lead:
        good > 0
          ? 'The brand has a key that is registered with the online store.'
          : 'No key of the brand is registered, so devices do not trust its signatures.',
      content: html`${facts([
          ['Account', renderAccount(brand.accountId, account?.username)],
          ['Account id', identifier(brand.accountId)],
          ['Made', time(brand.createdAt)],
        ])}
        <h2>Signing keys</h2>
        ${keyTable(keys)} ${newKeyForm(browsing, brand.accountId)}
        <h2>Models</h2>
        ${modelTable(models)} ${newModelForm(browsing, brand.accountId)}
        ${hostCommand(`larder model create ${brand.accountId} NAME`)}
        <h2>Remodelling</h2>
        <p>
          <a href="${brandAddress(brand.accountId, 'remodels')}">The remodel allowlist</a> says which devices may become
          another model of the brand.
        </p>`,
    };
  },
});

/** A model, and a description of the key that signs the serials of its devices. */
interface ModelWithSigner extends Model {
  signer: HtmlContent;
}

async function modelsOf(
  { accountId }: Brand,
  { models, serialPolicies }: Pick<HandlerRecords, 'models' | 'serialPolicies'>,
  keys: readonly BrandSigningKey[],
): Promise<ModelWithSigner[]> {
  const signedModels: ModelWithSigner[] = [];
  for (const model of await models.list(accountId)) {
    const policy = await serialPolicies.current(accountId, model.name);
    const own = keys.find(({ sha3_384 }) => sha3_384 === policy?.signingKeySha3384);
    const foreign = policy && html`${identifier(policy.signingKeySha3384)} of ${identifier(policy.authority)}`;
    signedModels.push({ ...model, signer: own?.name ?? foreign ?? 'no key yet' });
  }
  return signedModels;
}

const keyTable = (keys: readonly BrandSigningKey[]): Html =>
  table<BrandSigningKey>({
    caption: 'Signing keys',
    columns: [
      { heading: 'Key', cell: (key) => html`<a href="${signingKeyAddress(key)}">${key.name}</a>` },
      { heading: 'State', cell: ({ status }) => registrationBadge(status) },
      { heading: 'Private key', cell: privateKeyPlace },
      { heading: 'Valid until', cell: ({ until }) => (until === undefined ? 'not said' : time(until)) },
      { heading: 'Made', cell: ({ createdAt }) => time(createdAt) },
      { heading: 'Id (SHA3-384)', cell: ({ sha3_384 }) => identifier(sha3_384) },
    ],
    rows: keys,
    empty: 'The brand has no signing keys. Make one, then request its registration.',
  });

const modelTable = (models: readonly ModelWithSigner[]): Html =>
  table<ModelWithSigner>({
    caption: 'Models',
    columns: [
      { heading: 'Model', cell: (model) => html`<a href="${modelAddress(model)}"><bdi>${model.name}</bdi></a>` },
      { heading: 'Serials are signed with', cell: ({ signer }) => signer },
      { heading: 'Series', cell: ({ series }) => series },
      { heading: 'Asks devices for a key', cell: ({ apiKey }) => (apiKey === null || apiKey === '' ? 'no' : 'yes') },
      { heading: 'Made', cell: ({ createdAt }) => time(createdAt) },
    ],
    rows: models,
    empty: 'The brand has no models.',
  });
