// larder account role
import { changeRole } from '#acts/accounts/accounts.ts';
import { plainRoles, readRole, type AccountRole } from '#domain/accounts/role.ts';
import { nearest } from '#domain/nearest.ts';
import { command, UsageError } from '../frame/command.ts';
import { findAccount, withStore } from '../frame/store.ts';

export const accountRole = command({
  name: 'account role',
  summary: 'Give a role to an account, or take it away.',
  description:
    'A store administrator acts as publisher on every package. A brand administrator manages the models and keys ' +
    'of a brand. A transfer-approver approves the changes that the policy covers. An auditor reads the audit log ' +
    'and the list of exported files. A change takes effect at the next request, also for existing tokens. The ' +
    'role of the only enabled store administrator cannot be taken away.',
  positionals: [
    { name: 'id', summary: 'The id of the account.' },
    {
      name: 'role',
      summary:
        'The role: store-admin, transfer-approver, auditor, or brand-admin:BRAND with the account id of the brand.',
    },
  ],
  options: { remove: { type: 'boolean', summary: 'Take the role away.' } },
  examples: [
    'larder account role xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI store-admin',
    'larder account role xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI brand-admin:acme --remove --yes',
  ],
  confirm: {
    question: ({ positionals: { id, role }, options: { remove } }) =>
      remove ? `The account ${id} loses the role ${role} with its next request.` : undefined,
    unattended: 'refused',
  },

  run({ positionals: { id, role }, options: { remove }, data, world }) {
    const meant = roleOf(role);
    return withStore({ data, world }, async ({ records, acts, person }) => {
      const { username } = await findAccount(records, id);
      const roles = await acts.do(changeRole, person, { id, role: meant, remove });
      const now = roles.length === 0 ? 'no role' : roles.join(', ');
      return { text: `The account ${id} (${username}) has now: ${now}.`, json: { id, roles } };
    });
  },
});

function roleOf(role: string): AccountRole {
  const knownRole = readRole(role);
  if (knownRole !== undefined) return knownRole;
  const meant = role.includes(':') ? undefined : nearest(role, plainRoles);
  throw new UsageError(
    `the role is ${plainRoles.join(', ')} or brand-admin:BRAND, not '${role}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
  );
}
