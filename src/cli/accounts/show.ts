// larder account show
import { demandsCertificate } from '#domain/accounts/role.ts';
import { readDefaultQuota } from '#domain/accounts/quota.ts';
import { presentQuota } from '#operations/accounts/present-quota.ts';
import { command } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';
import type { GroupRole } from '#records/accounts/group-roles.ts';
import { columns, visible, widthOf } from '../frame/terminal.ts';
import { presentWholeAccount } from '#operations/store/present.ts';
import { describeQuota } from './quota.ts';

export const accountShow = command({
  name: 'account show',
  summary: 'Show one account: who it is, its roles, and how much it has in the store.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  examples: ['larder account show xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI'],

  run: ({ positionals: { id }, data, world }) =>
    withStore({ data, world }, async ({ records, config }) => {
      const account = await findAccount(records, id);
      const [roles, ofGroups, identity, disabledAt, quota] = await Promise.all([
        records.accounts.rolesOf(id),
        records.groupRoles.of(id),
        records.openidIdentities.of(id),
        records.accounts.disabledAt(id),
        presentQuota(records, account, readDefaultQuota(config.quotas)),
      ]);
      const needsCertificate = demandsCertificate(roles, config.identity.certificates.require_certificate);
      const rows: (readonly [string, string])[] = [
        ['Account', `${account.username} (${id})`],
        ['Name', visible(account.displayName)],
        ['E-mail', visible(account.email)],
        ['Created', account.createdAt],
        ['Disabled', disabledAt ?? 'no'],
        ['Roles', roles.map((role) => describeRole(role, ofGroups)).join(', ') || 'none'],
        ...suspendedRow(ofGroups),
        ...(identity === undefined ? [] : [['OpenID', `${visible(identity.subject)} of ${identity.issuer}`] as const]),
        ...(needsCertificate ? [['Certificate', 'required for each login'] as const] : []),
        ['In the store', describeQuota(quota)],
      ];
      const { bytes, packages } = quota;
      return {
        text: columns(rows, widthOf(world.stdout, 120)).trimEnd(),
        json: {
          ...presentWholeAccount({ ...account, roles, groupRoles: inForce(ofGroups), disabledAt }),
          quota: { bytes, packages },
          'requires-certificate': needsCertificate,
          openid: identity === undefined ? null : { issuer: identity.issuer, subject: identity.subject },
        },
      };
    }),
});

const inForce = (roles: readonly GroupRole[]): { role: string; group: string }[] =>
  roles.filter((each) => each.inForce === 1).map(({ role, group }) => ({ role, group }));

/** A role, with the group that gives it. */
function describeRole(role: string, ofGroups: readonly GroupRole[]): string {
  const group = ofGroups.find((each) => each.role === role)?.group;
  return group === undefined ? role : `${role} (from the group ${visible(group)})`;
}

/** The roles that wait for the next login of the person. */
function suspendedRow(ofGroups: readonly GroupRole[]): [string, string][] {
  const suspended = ofGroups.filter((each) => each.inForce === 0).map(({ role }) => describeRole(role, ofGroups));
  return suspended.length === 0 ? [] : [['After a login', suspended.join(', ')]];
}
