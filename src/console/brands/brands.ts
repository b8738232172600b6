// The page of brands with their models and signing keys: use, registration and end of each key.
import { registrationOf, type Registration } from '#assertions/keys/registration.ts';
import { brandAdministrator, storeAdministrator } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type HtmlContent, type Html } from '#http/pages/html.ts';
import { accountKeysOf } from '#operations/assertions/account-keys.ts';
import { pageOf, placeOf } from '#operations/page.ts';
import type { Brand } from '#records/brands/brands.ts';
import type { Model } from '#records/brands/models.ts';
import { badge, type Gravity } from '../parts/notice.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { time } from '../parts/values.ts';
import { screen } from '../screen.ts';

type BrandListRow = Pick<Brand, 'accountId' | 'name' | 'createdAt' | 'createdBy'>;

export const consoleBrands = screen({
  name: 'console_brands',
  path: '/console/brands',
  summary: 'List the brands of the store.',
  access: storeAdministrator('store-view'),
  query: 'ConsoleListQuery',

  async show({ query, records }) {
    const [after] = placeOf(query, [''] as const);
    const brands = await records.inventory.brands(after, pageSize + 1);
    const { entries, next } = pageOf(brands, pageSize, ({ accountId }) => [accountId]);
    return {
      title: 'Brands and keys',
      lead: 'Brands make devices. They have models and signing keys, and the store signs serials and the assertions of snaps with these keys.',
      content: html`${table<BrandListRow>({
        caption: 'Brands by the ids of their accounts',
        columns: [
          {
            heading: 'Brand',
            cell: ({ accountId, name }) => html`<a href="/console/brands/${encodeURIComponent(accountId)}">${name}</a>`,
          },
          { heading: 'Account', cell: ({ accountId }) => html`<code>${accountId}</code>` },
          { heading: 'Made', cell: ({ createdAt }) => time(createdAt) },
        ],
        rows: entries,
        empty: html`There are no brands. Turn an account into a brand with
          <code>larder brand create ACCOUNT --name NAME</code> on the host.`,
      })}
      ${nextPage(next === null ? undefined : `/console/brands?cursor=${next}`)}`,
    };
  },
});

export const consoleBrand = screen({
  name: 'console_brand',
  path: '/console/brands/:brand_account_id',
  summary: 'Show a brand with its models and signing keys, and the state of each key.',
  access: brandAdministrator('account-manage-metadata', true),

  async show({ brand, records, now }) {
    const keys = await keysOf(brand, records, now());
    const models = await modelsOf(brand, records, keys);
    const good = keys.filter(({ status }) => status === 'registered').length;
    return {
      title: brand.name,
      lead:
        good > 0
          ? 'The brand has a key that is registered with the online store.'
          : 'No key of the brand is registered, so devices do not trust its signatures.',
      content: html`${facts([
          ['Account', html`<code>${brand.accountId}</code>`],
          ['Made', time(brand.createdAt)],
        ])}
        <h2>Signing keys</h2>
        ${keyTable(keys, brand)}
        <h2>Models</h2>
        ${modelTable(models)}`,
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
  keys: readonly BrandSigningKeyRow[],
): Promise<ModelWithSigner[]> {
  const signedModels: ModelWithSigner[] = [];
  for (const model of await models.list(accountId)) {
    const policy = await serialPolicies.current(accountId, model.name);
    const own = keys.find(({ sha3_384 }) => sha3_384 === policy?.signingKeySha3384);
    const foreign = policy && html`<code>${policy.signingKeySha3384}</code> of <code>${policy.authority}</code>`;
    signedModels.push({ ...model, signer: own?.name ?? foreign ?? 'no key yet' });
  }
  return signedModels;
}

interface BrandSigningKeyRow {
  name: string;
  sha3_384: string;
  createdAt: string;
  /** The name in the key manager; null for a key in this store. */
  managerKey: string | null;
  status: Registration;
  until: string | undefined;
}

async function keysOf(
  { accountId }: Brand,
  records: Pick<HandlerRecords, 'signingKeys' | 'assertions'>,
  now: Date,
): Promise<BrandSigningKeyRow[]> {
  const keys = await records.signingKeys.list(accountId);
  const registered = await accountKeysOf(keys, records);
  return keys.map(({ name, sha3_384, createdAt, managerKey, requestedAt }) => {
    const accountKey = registered.get(sha3_384);
    const until = accountKey?.headers['until'];
    return {
      name,
      sha3_384,
      createdAt,
      managerKey,
      status: registrationOf(requestedAt, accountKey, now),
      until: typeof until === 'string' ? until : undefined,
    };
  });
}

const words: Readonly<Record<Registration, readonly [Gravity, string]>> = {
  new: ['note', 'not requested yet'],
  requested: ['note', 'requested, no answer yet'],
  registered: ['good', 'registered'],
  expired: ['warn', 'expired'],
  revoked: ['warn', 'revoked'],
};

const keyTable = (keys: readonly BrandSigningKeyRow[], { accountId }: Brand): Html =>
  table<BrandSigningKeyRow>({
    caption: 'Signing keys',
    columns: [
      { heading: 'Key', cell: ({ name }) => name },
      {
        heading: 'Private key',
        cell: ({ managerKey }): HtmlContent =>
          managerKey === null ? 'in this store' : html`in the key manager as <code>${managerKey}</code>`,
      },
      { heading: 'State', cell: ({ status }): HtmlContent => badge(...words[status]) },
      { heading: 'Valid until', cell: ({ until }) => (until === undefined ? 'not said' : time(until)) },
      { heading: 'Made', cell: ({ createdAt }) => time(createdAt) },
      { heading: 'Id (SHA3-384)', cell: ({ sha3_384 }) => html`<code>${sha3_384}</code>` },
    ],
    rows: keys,
    empty: html`The brand has no signing keys. On the host, <code>larder key create ${accountId} NAME</code> makes one,
      and <code>larder key request</code> writes the request for the online store.`,
  });

const modelTable = (models: readonly ModelWithSigner[]): Html =>
  table<ModelWithSigner>({
    caption: 'Models',
    columns: [
      { heading: 'Model', cell: ({ name }) => name },
      { heading: 'Serials are signed with', cell: ({ signer }) => signer },
      { heading: 'Series', cell: ({ series }) => series },
      { heading: 'Asks devices for a key', cell: ({ apiKey }) => (apiKey === null || apiKey === '' ? 'no' : 'yes') },
      { heading: 'Made', cell: ({ createdAt }) => time(createdAt) },
    ],
    rows: models,
    empty: html`The brand has no models. Create one with <code>POST /v1/brand/${accountIdWord}/model</code> (<a
        href="/docs/operations-brands"
        >the operations</a
      >).`,
  });

const accountIdWord = ':brand_account_id';
