// larder brand create
import { displayNameProblem } from '#domain/account.ts';
import { Refusal } from '#domain/refusal.ts';
import { command, UsageError } from '../frame/command.ts';
import { unknownOnline } from '../key/keys.ts';
import { accountOf, withStore } from '../frame/store.ts';

export const brandCreate = command({
  name: 'brand create',
  summary: 'Make an account a brand, which has models and signing keys.',
  options: {
    account: { type: 'string', value: 'ID', summary: 'The account of the brand.', required: true },
    name: { type: 'string', value: 'NAME', summary: 'The name of the brand.', required: true },
  },
  examples: ["larder brand create --account acme --name 'Acme Devices' --json"],

  run({ options, data, world }) {
    const { account } = options;
    const name = options.name.trim();
    const problem = displayNameProblem(name);
    if (problem !== undefined) throw new UsageError(problem.replace('display name', 'brand name'));

    return withStore({ data, world }, async (store) => {
      const { records, entry } = store;
      await accountOf(records, account);
      const change = entry('brand create', `brand/${account}`);
      const brand = { accountId: account, name, createdAt: change.at, createdBy: account };
      await records.change({ ...change, details: { name } }, async (tx) => {
        if (await tx.brands.claim({ ...brand, modifiedAt: null, modifiedBy: null })) return;
        throw new Refusal('conflict', `The account '${account}' is a brand already.`);
      });
      const note = await unknownOnline(store, account);
      return {
        text: [
          `The account ${account} is now the brand ${name}, and administers it.`,
          ...(note === undefined ? [] : [note]),
        ].join('\n'),
        json: { 'account-id': account, name },
      };
    });
  },
});
