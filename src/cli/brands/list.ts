// larder brand list
import { command } from '../frame/command.ts';
import { withStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';

export const brandList = command({
  name: 'brand list',
  summary: 'List the brands of the store.',
  examples: ['larder brand list', 'larder brand list --json'],

  run: (call) =>
    withStore(call, async ({ records }) => {
      const brands = await records.brands.list();
      return {
        text:
          brands.length === 0
            ? "There is none; 'larder brand create' makes an account one."
            : table(
                ['ACCOUNT', 'NAME', 'CREATED'],
                brands.map(({ accountId, name, createdAt }) => [accountId, name, createdAt]),
              ),
        json: {
          brands: brands.map(({ accountId, name, createdAt, createdBy }) => ({
            'account-id': accountId,
            name,
            'created-at': createdAt,
            'created-by': createdBy,
          })),
        },
      };
    }),
});
