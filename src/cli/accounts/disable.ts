// larder account disable, larder account enable
import { disableAccount, enableAccount } from '#acts/accounts/accounts.ts';
import { command } from '../frame/command.ts';
import { formatCount } from '#domain/quantities.ts';
import { canAsk, requireConfirmation } from '../frame/questions.ts';
import { findAccount, readLatestTime, withStore } from '../frame/store.ts';
import { holdingsOf, describeHoldings } from './holdings.ts';

export const accountDisable = command({
  name: 'account disable',
  summary: 'Let an account in no more, with a password or with any token.',
  description:
    'It shows on the next request. What the account is let in with, and what stays, is shown before it is asked. Its tokens are good again when it is enabled ' +
    'again, unless --end-tokens ends them. The only store administrator who is let in cannot be disabled.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  options: {
    'end-tokens': {
      type: 'boolean',
      summary: 'End its tokens for good: they stay ended when the account is enabled again.',
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
  `From the next request on the account ${id} is let in no more, nor is any of its tokens.`;

export const accountEnable = command({
  name: 'account enable',
  summary: 'Let a disabled account in again.',
  description: 'Its password and its tokens are good again, but for tokens that have ended or were ended meanwhile.',
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
