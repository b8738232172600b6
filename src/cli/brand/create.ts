// larder brand create
import { createBrand } from '#acts/brands.ts';
import { brandNameProblem } from '#domain/account.ts';
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
    const problem = brandNameProblem(name);
    if (problem !== undefined) throw new UsageError(problem);

    return withStore({ data, world }, async (store) => {
      await accountOf(store.records, account);
      await store.acts.do(createBrand, store.person, { accountId: account, name });
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
