// larder account holdings
import { presentHoldings } from '#operations/accounts/account-holdings.ts';
import type { Holdings } from '#records/accounts/holdings.ts';
import { command } from '../frame/command.ts';
import { findAccount, readLatestTime, withStore, type OpenStore } from '../frame/store.ts';

export const accountHoldings = command({
  name: 'account holdings',
  summary: 'Show the credentials of an account, and the packages and other things that it owns.',
  description:
    "The first line lists things that are suspended while the account is disabled; 'account disable' shows the " +
    "same before it asks. The second line lists things that stay. 'larder package hand-over' gives a package to " +
    'another publisher.',
  positionals: [{ name: 'id', summary: 'The id of the account.' }],
  examples: [
    'larder account holdings xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI',
    'larder account holdings xSfWKGdLoQBoQx88ASXJfRuTvN0VXPbI --json',
  ],

  run: ({ positionals: { id }, data, world }) =>
    withStore({ data, world }, async (store) => {
      const { username } = await findAccount(store.records, id);
      const held = await holdingsOf(store, id);
      const roles = await store.records.accounts.rolesOf(id);
      return { text: describeHoldings(held), json: { id, username, ...presentHoldings(held), roles } };
    }),
});

export const holdingsOf = async (store: OpenStore, id: string): Promise<Holdings> =>
  store.records.holdings.of(id, await readLatestTime(store));

/** Describes in two sentences what ends when an account is disabled, and what stays. */
export const describeHoldings = (held: Holdings): string =>
  [
    'Ends while it is disabled: ' +
      sum([
        [held.tokens, 'token'],
        [held.agents, 'agent'],
        [held.pushCredentials, 'credential to push images', 'credentials to push images'],
        [held.setUpLinks, 'link to set a password', 'links to set a password'],
      ]),
    'Stays: ' +
      sum([
        [held.packages, 'package'],
        [held.collaborations, 'collaboration'],
        [held.invites, 'invite to answer', 'invites to answer'],
        [held.brands, 'brand'],
      ]),
  ].join('\n');

const sum = (parts: readonly (readonly [number, string, string?])[]): string => {
  const some = parts
    .filter(([count]) => count > 0)
    .map(([count, singular, many = `${singular}s`]) => `${String(count)} ${count === 1 ? singular : many}`);
  return `${some.length === 0 ? 'nothing' : some.join(', ')}.`;
};
