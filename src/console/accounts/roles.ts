// Grants and removes roles, after a page that explains the role and asks for the administrator's credentials.
import { changeRole } from '#acts/accounts/accounts.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { html, nothing, type Html } from '#http/pages/html.ts';
import { plainRoles, type AccountRole } from '#domain/accounts/role.ts';
import { findAccount } from '#operations/accounts/present.ts';
import { parseRole } from '#operations/accounts/parse-role.ts';
import { caller } from '#operations/caller.ts';
import type { Brand } from '#records/brands/brands.ts';
import type { PersonRecord } from '#records/accounts/people.ts';
import { credentialFields, findOwnProof, credentialRefusals, readCredentials } from './credential-fields.ts';
import { withQuery } from '../parts/address.ts';
import { choice, formOf } from '../parts/form.ts';
import { table } from '../parts/table.ts';
import { isolated } from '../parts/values.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { accountAddress } from './address.ts';
import { approvalPauseNotice } from './set-up-link.ts';

const withMessage = declareMessages({
  'role-taken': 'The role is removed. This takes effect with the next request.',
  'role-given': 'The role is given. It takes effect with the next request.',
});

/** The maximum number of brands in the form. `larder` accepts every brand. */
const maxBrands = 200;

/** The meaning of each role. */
const meanings: Readonly<Record<(typeof plainRoles)[number], string>> = {
  'store-admin': 'Reads everything, acts as publisher on every package, and manages all accounts.',
  'transfer-approver': 'Approves changes that the approval policy holds back.',
  auditor: 'Reads the audit log and the list of exports.',
};

const meaningOf = (role: AccountRole): string =>
  role in meanings
    ? meanings[role as keyof typeof meanings]
    : `Manages the models and keys of the brand ${role.slice('brand-admin:'.length)}.`;

/** The roles of an account, and the form to change them. */
export function renderRoles({ id, displayName, roles, groupRoles }: PersonRecord, brands: readonly Brand[]): Html {
  const roleAddress = accountAddress(id, 'role');
  const offered: AccountRole[] = [
    ...plainRoles,
    ...brands.slice(0, maxBrands).map(({ accountId }) => `brand-admin:${accountId}` as const),
  ];
  const groupOf = (role: string): string | undefined => groupRoles.find((each) => each.role === role)?.group;
  const others = offered.filter((role) => !roles.includes(role) && role !== `brand-admin:${id}`);
  return html`<h2 id="roles">Roles</h2>
    ${table({
      caption: `Roles of ${isolated(displayName)}`,
      columns: [
        { heading: 'Role', cell: (role: string) => role },
        { heading: 'Rights', cell: (role) => meaningOf(role as AccountRole) },
        {
          heading: 'Do',
          cell: (role) => {
            const group = groupOf(role);
            if (group !== undefined) return html`From the group ${group} of the OpenID provider; changed there`;
            return html`<a href="${withQuery(roleAddress, { role, remove: 'yes' })}"
              >Remove<span class="unseen"> ${role}</span></a
            >`;
          },
        },
      ],
      rows: roles,
      empty: 'No role: the account is only a publisher.',
    })}
    ${
      others.length === 0
        ? nothing
        : html`<form method="get" action="${roleAddress}">
            ${choice(
              { name: 'role', label: 'Another role' },
              others.map((role) => [role, role]),
            )} <button class="second">Give role</button>
          </form>`
    }`;
}

export const consoleAskChangeRole = screen({
  name: 'console_ask_change_role',
  path: '/console/people/:account_id/role',
  summary: 'Show the rights of a role, and ask whether to give or remove it.',
  access: storeAdministrator('store-manage'),
  query: 'ConsoleRoleQuery',
  refuses: ['forbidden'],

  async show({ params, query, records, principal, browsing }) {
    const { id, displayName, username } = await findAccount(params.account_id, records);
    const role = parseRole(query.role ?? 'auditor');
    const takes = query.remove === 'yes';
    return {
      title: takes ? `Remove ${role} from ${isolated(displayName)}?` : `Make ${isolated(displayName)} ${role}?`,
      lead: takes
        ? `The account ${username} and all its tokens lose the role with the next request.`
        : `The account ${username} and all its tokens, including existing ones, have the role from the next request on.`,
      content: html`<p>${meaningOf(role)}</p>
        <p class="hint">${approvalPauseNotice}</p>
        ${formOf(
          browsing,
          accountAddress(id, 'role'),
          html`<input type="hidden" name="role" value="${role}" />
            <input type="hidden" name="remove" value="${takes ? 'yes' : 'no'}" />
            ${credentialFields(browsing, await findOwnProof(principal, records))}
            ${takes ? html`<button class="grave">Remove ${role}</button>` : html`<button>Give ${role}</button>`}`,
        )}
        <p><a href="${accountAddress(id)}">Cancel</a></p>`,
    };
  },
});

export const consoleChangeRole = formHandler({
  name: 'console_change_role',
  path: '/console/people/:account_id/role',
  summary: 'Give a role to an account, or remove it.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleRole',
  refuses: [...credentialRefusals, 'conflict'],

  async perform(call) {
    const { params, body, records, principal, identity, acts } = call;
    const { id } = await findAccount(params.account_id, records);
    const role = parseRole(body.role);
    await identity.own.proveBeforeAct(principal.accountId, readCredentials(call));
    const remove = body.remove === 'yes';
    await acts.do(changeRole, caller(call), { id, role, remove });
    const isOwn = id === principal.accountId && role === 'store-admin' && remove;
    return withMessage(isOwn ? '/console' : accountAddress(id), remove ? 'role-taken' : 'role-given');
  },
});
