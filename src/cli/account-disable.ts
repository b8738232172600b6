// larder account disable, larder account enable
import { command } from './command.ts';
import { accountOf, withStore } from './store.ts';

export const accountDisable = command({
  name: 'account disable',
  summary: 'Let an account in no more, with a password or with any token.',
  description: 'It shows on the next request. What the account owns stays as it is.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  examples: [
    'larder account disable xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI',
    'larder account disable xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --yes',
  ],
  confirm: {
    question: ({ positionals: { id } }) =>
      `From the next request on the account ${id} is let in no more, nor is any of its tokens.`,
    unattended: 'refused',
  },

  run({ positionals: { id }, data, world }) {
    return withStore({ data, world }, async ({ records, entry }) => {
      const { username } = await accountOf(records, id);
      const change = entry('account disable', `account/${id}`);
      await records.change(change, async (tx) => {
        await tx.accounts.disable(id, change.at);
        await tx.setUpLinks.removeOf(id);
      });
      const disabledAt = await records.accounts.disabledAt(id);
      return {
        text: `The account ${id} (${username}) is disabled; 'larder account enable' ends that.`,
        json: { id, 'disabled-at': disabledAt },
      };
    });
  },
});

export const accountEnable = command({
  name: 'account enable',
  summary: 'Let a disabled account in again.',
  description: 'Its password and its tokens are good again, but for those that have ended meanwhile.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  examples: ['larder account enable xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI'],

  run({ positionals: { id }, data, world }) {
    return withStore({ data, world }, async ({ records, entry }) => {
      const { username } = await accountOf(records, id);
      await records.change(entry('account enable', `account/${id}`), (tx) => tx.accounts.enable(id));
      return { text: `The account ${id} (${username}) is enabled.`, json: { id, 'disabled-at': null } };
    });
  },
});
