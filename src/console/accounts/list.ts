// The list of accounts with a search, and the form that invites a person.
import { createAccount } from '#acts/accounts/accounts.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type HtmlContent, type Html } from '#http/pages/html.ts';
import type { ConsolePeopleQuery } from '#contract/wire.ts';
import { demandsCertificate } from '#domain/accounts/role.ts';
import type { CertificateSettings } from '#configuration/config.ts';
import { emailAddress } from '#domain/accounts/account.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '#operations/caller.ts';
import { pageOf, placeOf } from '#operations/page.ts';
import type { PeopleOrder, PersonRecord } from '#records/accounts/people.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import {
  credentialFields,
  findOwnProof,
  credentialRefusals,
  readCredentials,
  type OwnProof,
} from './credential-fields.ts';
import { withQuery } from '../parts/address.ts';
import { field, formOf, searchOf } from '../parts/form.ts';
import { badge } from '../parts/notice.ts';
import { sortedPage } from '../parts/sorting.ts';
import { nextPage, pageSize, table, type Column } from '../parts/table.ts';
import { count, time } from '../parts/values.ts';
import { formHandler, screen } from '../screen.ts';
import { accountAddress, peopleAddress, tokensAddress } from './address.ts';
import { inviteWithLink } from './set-up-link.ts';

export const consolePeople = screen({
  name: 'console_people',
  path: peopleAddress,
  summary: 'List the accounts, page by page or by a search, with a form to invite a publisher.',
  access: storeAdministrator('store-view'),
  query: 'ConsolePeopleQuery',
  refuses: ['forbidden'],

  async show({ query, records, principal, browsing, config }) {
    const { q = '', sort = '' } = query;
    const text = q.trim();
    const order = sort === '' ? 'name' : sort;
    const { entries, next } = await peoplePage(records, text, order, query);
    return {
      title: 'Users and tokens',
      lead: html`The accounts of this store. Their credentials are listed under <a href="${tokensAddress}">tokens</a>.`,
      content: html`${searchOf(
          peopleAddress,
          'people',
          html`${field({ name: 'q', label: 'Name or e-mail address', type: 'search', value: q, maxLength: 100 })}
            <button class="second">Search</button>`,
          sort,
        )}
        <div id="people">
          ${table({
            caption: 'Accounts',
            columns: columnsOf(config.identity.certificates),
            rows: entries,
            sorting: { order, address: (sort) => withQuery(peopleAddress, { q: text, sort }) },
            empty:
              text === ''
                ? 'There are no accounts yet. Create one with the form below.'
                : 'No name or address contains this text. Search for a shorter part of it.',
          })}
          ${nextPage(next && withQuery(peopleAddress, { q: text, sort, cursor: next }))}
        </div>
        ${invitation(browsing, await findOwnProof(principal, records))}`,
    };
  },
});

async function peoplePage(
  { people }: Pick<HandlerRecords, 'people'>,
  text: string,
  order: 'name' | PeopleOrder,
  query: ConsolePeopleQuery,
): Promise<{ entries: readonly PersonRecord[]; next: string | null }> {
  if (order === 'name') {
    const [behind] = placeOf(query, [''] as const);
    return pageOf(await people.page(text, behind, pageSize + 1), pageSize, ({ username }) => [username]);
  }
  return sortedPage(query, pageSize, (range) => people.sorted(text, order, range));
}

export const rolesCell = ({
  roles,
  isForeign,
  disabledAt,
}: Pick<PersonRecord, 'roles' | 'isForeign' | 'disabledAt'>): HtmlContent =>
  html`${roles.length === 0 ? 'publisher only' : roles.join(', ')}
  ${isForeign === 1 ? badge('note', 'of another store') : disabledAt === null ? '' : badge('warn', 'disabled')}`;

/** How an account logs in, as far as known. */
export function loginCell(
  { hasPassword, hasTotp, hasOpenid, linkUntil, isForeign, roles }: PersonRecord,
  { listen, require_certificate: certificateRoles }: CertificateSettings,
): HtmlContent {
  if (isForeign === 1) return 'Not here';
  if (demandsCertificate(roles, certificateRoles)) return 'Client certificate only';
  const other = listen === undefined ? '' : ', or client certificate';
  return `${loginWithout({ hasPassword, hasTotp, hasOpenid, linkUntil })}${other}`;
}

function loginWithout({
  hasPassword,
  hasTotp,
  hasOpenid,
  linkUntil,
}: Pick<PersonRecord, 'hasPassword' | 'hasTotp' | 'hasOpenid' | 'linkUntil'>): string {
  if (hasOpenid === 1) return hasPassword === 1 ? 'OpenID provider or password' : 'OpenID provider';
  if (hasPassword === 0) return linkUntil === null ? 'No password' : 'Invited, no password yet';
  return hasTotp === 1 ? 'Password and one-time password' : 'Password';
}

/** When an account was last seen, from its tokens and logins. */
export function seenAt({ begunAt, usedAt }: Pick<PersonRecord, 'begunAt' | 'usedAt'>): HtmlContent {
  const last = [begunAt, usedAt]
    .filter((at) => at !== null)
    .sort()
    .at(-1);
  return last === undefined ? 'Never' : time(last);
}

const columnsOf = (certificates: CertificateSettings): readonly Column<PersonRecord>[] => [
  {
    heading: 'Name',
    sort: { key: 'name' },
    cell: ({ id, username, displayName }) =>
      html`<a href="${accountAddress(id)}">${username}</a><br /><span class="hint"><bdi>${displayName}</bdi></span>`,
  },
  { heading: 'E-mail', sort: { key: 'email' }, cell: ({ email }) => email },
  { heading: 'Roles', cell: rolesCell },
  { heading: 'Logs in with', cell: (person) => loginCell(person, certificates) },
  {
    heading: 'Packages',
    number: true,
    sort: { key: 'packages', largestFirst: true },
    cell: ({ packages }) => count(packages),
  },
  { heading: 'Last seen', sort: { key: 'seen', largestFirst: true }, cell: seenAt },
];

const invitation = (browsing: BrowserEvidence['browsing'], proof: OwnProof): Html =>
  html`<h2>Invite a publisher</h2>
    <p>
      The account is created immediately. The link to choose its password is shown once. Send the link to the owner of
      the account only.
    </p>
    ${formOf(
      browsing,
      peopleAddress,
      html`${field({ name: 'username', label: 'User name', required: true, maxLength: 64, hint: 'Lower-case letters and digits; used to log in.' })}
        ${field({ name: 'display-name', label: 'Display name', required: true, maxLength: 128, hint: 'The name that other people see.' })}
        ${field({ name: 'email', label: 'E-mail address', type: 'email', required: true, maxLength: 320 })}
        ${field({
          name: 'id',
          label: 'Account id',
          maxLength: 64,
          hint: 'If the publisher has an account in the online store, its id there. If empty, the store makes a new id.',
        })}
        ${credentialFields(browsing, proof)} <button>Create account and link</button>`,
    )}`;

export const consoleInvitePerson = formHandler({
  name: 'console_invite_person',
  path: peopleAddress,
  summary: 'Create an account and show, once, the link to set its password.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleInvite',
  refuses: [...credentialRefusals, 'conflict'],

  async perform(call) {
    const { body, acts, newId, identity, principal } = call;
    const email = emailAddress(body.email);
    if (email === undefined) throw new Refusal('api-error', `'${body.email}' is not an e-mail address.`);
    await identity.own.proveBeforeAct(principal.accountId, readCredentials(call));
    const requestedId = body.id === undefined || body.id === '' ? undefined : body.id;
    const account = await acts.do(createAccount, caller(call), {
      id: requestedId ?? newId.id(),
      username: body.username,
      displayName: body['display-name'].trim(),
      email,
      idMadeHere: requestedId === undefined,
    });
    return inviteWithLink(call, account);
  },
});
