// The page of one account: its profile, rights, packages, and tokens.
import { storeAdministrator } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { CertificateSettings } from '#configuration/config.ts';
import type { AccountQuota, Limit } from '#contract/wire.ts';
import { timestamp } from '#domain/clock.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { noun } from '#domain/quantities.ts';
import { Refusal } from '#domain/refusal.ts';
import { limitExamples, writeLimit } from '#operations/accounts/quota-limits.ts';
import { presentQuota } from '#operations/accounts/present-quota.ts';
import { writeCursor } from '#operations/cursor.ts';
import { placeOf } from '#operations/page.ts';
import type { InventoryPackage } from '#records/packages/inventory.ts';
import type { PersonRecord } from '#records/accounts/people.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { addressOf } from '../packages/address.ts';
import { withQuery } from '../parts/address.ts';
import { field, formOf } from '../parts/form.ts';
import { badge } from '../parts/notice.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { count, size, time } from '../parts/values.ts';
import { screen } from '../screen.ts';
import { accountAddress, tokensAddress } from './address.ts';
import { loginCell, seenAt } from './list.ts';
import { renderRoles } from './roles.ts';
import { tokenColumns } from '../tokens/token-cells.ts';
import { endTokenAddress } from '../tokens/tokens.ts';

/** The maximum number of tokens on the page of an account. The list of tokens shows all. */
const maxShownTokens = 10;

export const consolePerson = screen({
  name: 'console_person',
  path: '/console/people/:account_id',
  summary: 'Show an account: its roles, packages, tokens and quota, and the forms to change them.',
  access: storeAdministrator('store-view'),
  query: 'ConsolePageQuery',
  refuses: ['forbidden'],

  async show({ params, query, records, config, authority, browsing }) {
    const { account_id: id } = params;
    const person = await records.people.find(id);
    if (person === undefined) {
      throw new Refusal('resource-not-found', `There is no account with the id '${id.slice(0, 64)}'.`);
    }
    const now = authority.latestTime();
    const quota = await presentQuota(records, person, readDefaultQuota(config.quotas));
    const filter = { accountId: id, includeInactive: false, now: timestamp(now), before: undefined };
    const tokens = await records.macaroons.page(filter, maxShownTokens + 1);
    const { purpose, may, until, used, end } = tokenColumns({
      now,
      ending: endTokenAddress,
      ownSession: browsing.principal.sessionId,
    });
    return {
      title: person.displayName,
      lead: html`The account <code>${person.username}</code>.`,
      content: html`${factsOf(person, quota, config.identity.certificates)} ${deedsOf(person, browsing)}
        ${person.isForeign === 1 ? nothing : renderRoles(person, await records.brands.list())}
        <h2>Tokens</h2>
        ${table({
          caption: 'Tokens and sessions of the account, newest first',
          columns: [purpose, may, until, used, end],
          rows: tokens.slice(0, maxShownTokens),
          empty: 'The account has no valid token and no session.',
        })}
        ${
          tokens.length > maxShownTokens
            ? html`<p class="pager">
                <a href="${withQuery(tokensAddress, { account: id })}">All tokens of the account</a>
              </p>`
            : nothing
        }
        <h2>Packages</h2>
        ${await packagesOf(person, query.cursor, records)} ${quotaForm(person, quota, browsing)}
        <h2>History</h2>
        <ul>
          <li>
            <a href="${withQuery('/console/audit', { object: `account/${id}` })}">Changes of the account</a>
          </li>
          <li><a href="${withQuery('/console/audit', { actor: id })}">Changes made by the account</a></li>
        </ul>`,
    };
  },
});

function factsOf(person: PersonRecord, quota: AccountQuota, certificates: CertificateSettings): Html {
  const { id, email, validation, createdAt, disabledAt, isForeign, roles, linkUntil } = person;
  return facts([
    ['Account id', html`<code>${id}</code>`],
    ['E-mail', email],
    ['Validation', validation],
    ['Since', time(createdAt)],
    ['State', stateOf({ isForeign, disabledAt })],
    ['Roles', roles.length === 0 ? 'Publisher only' : roles.join(', ')],
    ['Logs in with', loginCell(person, certificates)],
    linkUntil === null ? undefined : ['Link to set a password', html`sent out, until ${time(linkUntil)}`],
    ['Last seen', seenAt(person)],
    [
      'In the store',
      html`${used(quota.bytes, size)}; ${used(quota.packages, count)}
      ${noun(quota.packages.limit ?? quota.packages.used, 'package')}`,
    ],
  ]);
}

function stateOf({ isForeign, disabledAt }: Pick<PersonRecord, 'isForeign' | 'disabledAt'>): HtmlContent {
  if (isForeign === 1) return html`${badge('note', 'of another store')} known from a transfer or an import`;
  return disabledAt === null ? badge('good', 'enabled') : html`${badge('warn', 'disabled')} since ${time(disabledAt)}`;
}

const used = ({ used: has, limit }: Limit, show: (amount: number) => string): string =>
  limit === null ? show(has) : `${show(has)} of ${show(limit)}`;

function deedsOf(
  { id, displayName, disabledAt, isForeign, hasPassword }: PersonRecord,
  browsing: BrowserEvidence['browsing'],
): Html {
  if (isForeign === 1) {
    return html`<p>To turn it into an account of this store, run on the host:</p>
      <pre tabindex="0">larder account create --id ${id} --username NAME --email EMAIL --display-name NAME</pre>`;
  }
  const isActive = disabledAt === null;
  return html`<h2>What you can do</h2>
    <div class="row">
      ${
        isActive
          ? html`${
                browsing.principal.accountId === id
                  ? nothing
                  : html`<a class="button second" href="${accountAddress(id, 'set-up-link')}">
                      ${hasPassword === 1 ? 'New password, by a link' : 'New link to set a password'}
                    </a>`
              } <a class="button grave" href="${accountAddress(id, 'disable')}">Disable <bdi>${displayName}</bdi></a>`
          : formOf(
              browsing,
              accountAddress(id, 'enable'),
              html`<button>Let <bdi>${displayName}</bdi> in again</button>`,
            )
      }
      <a class="button grave" href="${accountAddress(id, 'end-tokens')}">Revoke all tokens</a>
    </div>
    <details>
      <summary>If the authenticator was lost, run on the host</summary>
      <pre tabindex="0">
larder account totp ${id} --replace --yes
larder account totp ${id} --remove --yes</pre>
    </details>`;
}

async function packagesOf(
  { id, username }: PersonRecord,
  cursor: string | undefined,
  { inventory }: Pick<HandlerRecords, 'inventory'>,
): Promise<Html> {
  const [namespace, name] = placeOf({ ...(cursor !== undefined && { cursor }) }, ['', ''] as const);
  const all = { namespace: null, channel: null, atLeast: null, registeredBefore: null, quietSince: null };
  const { packages, next } = await inventory.packages({ ...all, publisher: id }, { namespace, name }, pageSize);
  return html`${table({
    caption: `What ${username} publishes`,
    columns: [
      {
        heading: 'Name',
        cell: (row: InventoryPackage) => html`<a href="${addressOf(row)}">${row.namespace}/${row.name}</a>`,
      },
      { heading: 'Revisions', number: true, cell: ({ revisions }) => count(revisions) },
      { heading: 'Size', number: true, cell: ({ bytes }) => size(bytes) },
      { heading: 'Released last', cell: ({ releasedAt }) => (releasedAt === null ? 'Never' : time(releasedAt)) },
    ],
    rows: packages,
    empty: 'No package yet. The owner of the account registers a name with snapcraft register or charmcraft register.',
  })}
  ${nextPage(next && withQuery(accountAddress(id), { cursor: writeCursor([next.namespace, next.name]) }))}`;
}

const quotaForm = (
  { id }: PersonRecord,
  { bytes, packages }: AccountQuota,
  browsing: BrowserEvidence['browsing'],
): Html =>
  html`<h2>Quota</h2>
    ${formOf(
      browsing,
      accountAddress(id, 'quota'),
      html`${field({
          name: 'bytes',
          label: 'Bytes',
          value: writeLimit('bytes', bytes),
          maxLength: 32,
          hint: `A size such as 20G or 500M, none for no limit, or default for the value of the configuration. In use: ${size(bytes.used)}.`,
        })}
        ${field({
          name: 'packages',
          label: 'Packages',
          value: writeLimit('packages', packages),
          maxLength: 32,
          hint: `A number, none or default. In use: ${count(packages.used)}.`,
        })} <button class="second">Set</button>`,
    )}`;

/** The refusal of an invalid limit from the form. */
export const invalidLimit = (of: 'bytes' | 'packages', text: string): Refusal =>
  new Refusal('api-error', `A quota is ${limitExamples[of]}, none or default, not '${text}' at /${of}`);
