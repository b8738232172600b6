// larder account disable, larder account enable
import { disableAccount, enableAccount } from '#acts/accounts/accounts.ts';
import { command } from '../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { canAsk, requireConfirmation } from '../frame/questions.ts';
import { findAccount, readLatestTime, withStore } from '../frame/store.ts';
import { holdingsOf, describeHoldings } from './holdings.ts';

export const accountDisable = command({
  name: 'account disable',
  summary: 'Disable an account: it can no longer log in, and its tokens are refused.',
  description:
    'This takes effect at the next request. The command shows first what ends and what stays, and asks for ' +
    'confirmation. When the account is enabled again its tokens are valid again, unless --end-tokens revokes ' +
    'them. The only enabled store administrator cannot be disabled.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  options: {
    'end-tokens': {
      type: 'boolean',
      summary: 'Revoke its tokens for good, so that they stay invalid when the account is enabled again.',
    },
  },
  examples: [
    'larder account disable xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI',
    'larder account disable xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --end-tokens --yes',
  ],
  confirm: {
    // At a terminal, the question follows when the effects are known.
    question: ({ positionals: { id }, world }) => (canAsk(world) ? undefined : question(id)),
    unattended: 'refused',
  },

  run({ positionals: { id }, options, data, world }) {
    return withStore({ data, world }, async (store) => {
      const { records, acts, person } = store;
      const { username } = await findAccount(records, id);
      if (canAsk(world) && !('yes' in options && options.yes === true)) {
        const held = describeHoldings(await holdingsOf(store, id));
        await requireConfirmation(world, `${held}\n${question(id)}`);
      }
      const details = { id, moment: await readLatestTime(store), endTokens: options['end-tokens'] };
      const { disabledAt, endedTokens: ended } = await acts.do(disableAccount, person, details);
      const text = `The account ${id} (${username}) is disabled; 'larder account enable' ends that.`;
      return {
        text: ended === undefined ? text : `${text} ${formatCount(ended, 'token')} ended for good.`,
        json: { id, 'disabled-at': disabledAt, ...(ended !== undefined && { 'ended-tokens': ended }) },
      };
    });
  },
});

const question = (id: string): string =>
  `From the next request on the account ${id} cannot log in, and its tokens are refused.`;

export const accountEnable = command({
  name: 'account enable',
  summary: 'Enable a disabled account.',
  description: 'Its password and its tokens are valid again, except tokens that have expired or were revoked.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  examples: ['larder account enable xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI'],

  run({ positionals: { id }, data, world }) {
    return withStore({ data, world }, async ({ records, acts, person }) => {
      const { username } = await findAccount(records, id);
      await acts.do(enableAccount, person, { id });
      return { text: `The account ${id} (${username}) is enabled.`, json: { id, 'disabled-at': null } };
    });
  },
});
