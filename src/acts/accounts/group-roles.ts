// Roles that groups of the OpenID provider give. They are in force while the provider confirms the account.
import type { AccountRole } from '#domain/accounts/role.ts';
import type { GroupRole } from '#records/accounts/group-roles.ts';
import type { ChangeRecords } from '#records/index.ts';
import { act, DoneAlready } from '../act.ts';
import {
  accountObject,
  brandOf,
  giveRole,
  markTouched,
  requireAccount,
  removeRole,
  type AccountTarget,
} from './accounts.ts';

/** A role, and the group that gives it. */
export interface RoleOfGroup {
  role: AccountRole;
  group: string;
}

export const changeGroupRoles = act({
  name: 'change_group_roles',
  summary:
    'Give an account the roles of its groups at the OpenID provider, and take away the roles of groups that it has left.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'the approvals of a changed account do not count for three days' },

  /**
   * A role that the account has locally stays local. A role that comes back into force after a time without a confirmation is no
   * change of the account; a new role and a lost one are.
   */
  async perform(tx, { id, roles }: AccountTarget & { roles: readonly RoleOfGroup[] }, doing): Promise<void> {
    await requireAccount(tx, id);
    const before = await tx.groupRoles.of(id);
    const removed = await removeLostRoles(tx, id, { before, roles });
    const local = await tx.accounts.rolesOf(id);
    const [added, restored]: [string[], string[]] = [[], []];
    for (const { role, group } of roles) {
      const held = before.find((each) => each.role === role);
      if (held?.inForce === 1 && held.group === group) continue;
      const brand = brandOf(role);
      if (held === undefined && local.includes(role)) continue;
      if (brand !== undefined && (await tx.brands.find(brand)) === undefined) continue;
      await giveRole(tx, id, role, doing.at);
      await tx.groupRoles.set(id, { role, group, since: doing.at });
      (held === undefined ? added : restored).push(`${role} (${group})`);
    }
    if (added.length + removed.length + restored.length === 0) throw new DoneAlready(undefined);
    doing.note({ added, removed, restored });
    if (added.length + removed.length > 0) await markTouched(tx, id, doing);
  },
});

async function removeLostRoles(
  tx: ChangeRecords,
  id: string,
  { before, roles }: { before: readonly GroupRole[]; roles: readonly RoleOfGroup[] },
): Promise<string[]> {
  const lost = before.filter(({ role }) => !roles.some((other) => other.role === role));
  for (const { role } of lost) {
    await removeRole(tx, id, role as AccountRole);
    await tx.groupRoles.remove(id, role);
  }
  return lost.map(({ role, group }) => `${role} (${group})`);
}

export const expireGroupRoles = act({
  name: 'expire_group_roles',
  summary: 'Suspend the roles of the groups of an account that the OpenID provider has not confirmed for an hour.',
  on: 'account/ID',
  object: accountObject,
  gate: { never: 'rights that nothing confirms must end at once' },

  /** Not a change of the account: the next login puts the same roles into force again. */
  async perform(tx, { id }: AccountTarget, { note }): Promise<void> {
    const inForce = (await tx.groupRoles.of(id)).filter((held) => held.inForce === 1);
    if (inForce.length === 0) throw new DoneAlready(undefined);
    for (const { role } of inForce) await removeRole(tx, id, role as AccountRole);
    await tx.groupRoles.suspend(id);
    note({ roles: inForce.map(({ role }) => role) });
  },
});
