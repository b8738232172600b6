// larder account role
import { Refusal } from '#domain/refusal.ts';
import { refuseLastAdministrator } from '#operations/accounts/last-administrator.ts';
import type { Changes } from '#records/index.ts';
import { nearest } from '#src/configuration/nearest.ts';
import { command, UsageError } from '../frame/command.ts';
import { accountOf, withStore } from '../frame/store.ts';

export const accountRole = command({
  name: 'account role',
  summary: 'Give a role to an account, or take it away.',
  description:
    'A store administrator acts as publisher on every package; a brand administrator manages the models and keys of ' +
    'a brand. It shows on the next request, also of tokens that are out already. The only store administrator who is ' +
    'let in stays one.',
  positionals: [
    { name: 'id', summary: 'The id of the account.' },
    { name: 'role', summary: 'The role: store-admin, or brand-admin:BRAND with the account id of the brand.' },
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
    const change = roleChange(role);
    return withStore({ data, world }, async ({ records, entry }) => {
      const { username } = await accountOf(records, id);
      const audit = entry('account role', `account/${id}`);
      await records.change({ ...audit, details: { role, removed: remove } }, (tx) => change(tx, id, remove, audit.at));
      const roles = (await records.accounts.list()).find((account) => account.id === id)?.roles ?? [];
      const now = roles.length === 0 ? 'no role' : roles.join(', ');
      return { text: `The account ${id} (${username}) has now: ${now}.`, json: { id, roles } };
    });
  },
});

type RoleChange = (tx: Changes, id: string, remove: boolean, at: string) => Promise<unknown>;

async function demote(tx: Changes, id: string): Promise<void> {
  await refuseLastAdministrator(tx, id);
  await tx.accounts.endStoreAdministrator(id);
}

function roleChange(role: string): RoleChange {
  const [kind = '', brand] = role.split(/:(.*)/s);
  if (kind === 'store-admin' && brand === undefined) {
    return (tx, id, remove, at) => (remove ? demote(tx, id) : tx.accounts.makeStoreAdministrator(id, at));
  }
  if (kind === 'brand-admin' && brand) {
    return async (tx, id, remove, at) => {
      if ((await tx.brands.find(brand)) === undefined) {
        throw new Refusal('resource-not-found', `There is no brand of the account '${brand}'.`);
      }
      return remove ? tx.brands.removeAdministrator(brand, id) : tx.brands.addAdministrator(brand, id, at);
    };
  }
  const meant = brand === undefined ? nearest(kind, ['store-admin']) : undefined;
  throw new UsageError(
    `the role is store-admin or brand-admin:BRAND, not '${role}'${meant === undefined ? '' : `; did you mean '${meant}'?`}`,
  );
}
