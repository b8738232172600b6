// The tokens of all accounts: owner, purpose, permissions, end; and the page that ends one.
import { revokeToken } from '#acts/tokens/tokens.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { html, type Html } from '#http/pages/html.ts';
import type { ConsoleTokensQuery } from '#contract/wire.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { readTokensPage, type TokensPage, type TokenListFilter } from '#operations/tokens/tokens-page.ts';
import { caller } from '#operations/caller.ts';
import type { OwnedMacaroon } from '#records/tokens/macaroons.ts';
import type { BrowserEvidence } from '../browser-access.ts';
import { withQuery } from '../parts/address.ts';
import { choice, field, formOf, searchOf } from '../parts/form.ts';
import { sortedPage } from '../parts/sorting.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { time } from '../parts/values.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { accountAddress, tokensAddress } from '../accounts/address.ts';
import { describePermissions, describePurpose, tokenColumns } from './token-cells.ts';

const withMessage = declareMessages({
  'token-ended': 'The token is revoked.',
});

/** The confirmation page that ends a token. */
export const endTokenAddress = ({ sessionId }: Pick<OwnedMacaroon, 'sessionId'>): string =>
  `${tokensAddress}/${encodeURIComponent(sessionId)}/end`;

/** A token that ends within this time "ends soon". */
const endsSoonMs = days(30);

export const consoleTokens = screen({
  name: 'console_tokens',
  path: tokensAddress,
  summary: 'List the tokens and sessions of all accounts: all valid ones, or only the ones that expire soon.',
  access: storeAdministrator('store-view'),
  query: 'ConsoleTokensQuery',
  refuses: ['forbidden'],

  async show({ query, records, authority, browsing }) {
    const { account = '', show = 'good', sort = '' } = query;
    const now = authority.latestTime();
    const owner = account === '' ? undefined : await records.accounts.findByName(account);
    const { entries, next } = await inOrder(records, query, {
      // No account has an empty id.
      accountId: account === '' ? null : (owner?.id ?? ''),
      now: timestamp(now),
      endingBefore: show === 'ending' ? timestamp(after(now, endsSoonMs)) : undefined,
      includeInactive: show === 'all',
      size: pageSize,
    });
    const order = sort === '' ? (show === 'ending' ? 'until' : '-since') : sort;
    const { purpose, whose, may, since, until, used, end } = tokenColumns({
      now,
      ending: endTokenAddress,
      ownSession: browsing.principal.sessionId,
    });
    return {
      title: 'Tokens',
      lead: html`The credentials of programs and browsers. The store does not keep the tokens themselves.
        <a href="/console/people">Users</a>`,
      content: html`${search({ account, show, sort })}
        <div id="tokens">
          ${table({
            caption: 'Tokens',
            columns: [purpose, whose, may, since, until, used, end],
            rows: entries,
            sorting: { order, address: (sort) => withQuery(tokensAddress, { account, show, sort }) },
            empty: describeEmptyList(show, account),
          })}
          ${nextPage(next && withQuery(tokensAddress, { account, show, sort, cursor: next }))}
        </div>`,
    };
  },
});

/** The matching tokens in the requested order. By default, tokens that end soon are sorted by their end, all others newest first. */
async function inOrder(
  records: Pick<HandlerRecords, 'macaroons'>,
  query: ConsoleTokensQuery,
  sought: TokenListFilter,
): Promise<TokensPage> {
  const { sort = '' } = query;
  if (sort === '') return readTokensPage(records, query, sought);
  const { endingBefore: latestEnd = null, size, ...filter } = sought;
  return sortedPage(query, size, (range) => records.macaroons.sorted({ ...filter, endsBy: latestEnd }, sort, range));
}

const search = ({ account, show, sort }: Record<'account' | 'show' | 'sort', string>): Html =>
  searchOf(
    tokensAddress,
    'tokens',
    html`${field({ name: 'account', label: 'Account: user name, e-mail address or id', type: 'search', value: account, maxLength: 320 })}
      ${choice({ name: 'show', label: 'Which', value: show }, [
        ['good', 'Valid'],
        ['ending', 'Expiring within 30 days'],
        ['all', 'All, including expired and revoked'],
      ])} <button class="second">Search</button>`,
    sort,
  );

const describeEmptyList = (show: string, account: string): string =>
  account !== ''
    ? 'The account has no such token, or does not exist.'
    : show === 'ending'
      ? 'No token expires within 30 days.'
      : 'There are no tokens. Publishers make tokens under their name in the menu; administrators run larder token issue on the host.';

export const consoleAskEndToken = screen({
  name: 'console_ask_end_token',
  path: '/console/people/tokens/:session_id/end',
  summary: 'Show a token and its account, and ask whether to revoke it.',
  access: storeAdministrator('store-manage'),
  refuses: ['forbidden'],

  async show({ params, records, browsing }) {
    const token = await findOwnedToken(records, params.session_id);
    return {
      title: 'Revoke this token?',
      lead: html`From the next request on, the token is not valid. Its owner, ${token.username}, needs another one.`,
      content: renderEndTokenForm(browsing, token, { does: endTokenAddress(token), back: tokensAddress }),
    };
  },
});

export const consoleEndToken = formHandler({
  name: 'console_end_token',
  path: '/console/people/tokens/:session_id/end',
  summary: 'Revoke a token of any account, immediately and permanently.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleForm',

  async perform(call) {
    await call.acts.do(revokeToken, caller(call), { sessionId: call.params.session_id });
    return withMessage(tokensAddress, 'token-ended');
  },
});

/** Returns a token by its session, with its owner; refuses if it does not exist. */
export async function findOwnedToken(
  { macaroons, accounts }: Pick<HandlerRecords, 'macaroons' | 'accounts'>,
  sessionId: string,
): Promise<OwnedMacaroon> {
  const macaroon = await macaroons.find(sessionId);
  const owner = macaroon && (await accounts.find(macaroon.accountId));
  if (macaroon !== undefined && owner !== undefined) return { ...macaroon, username: owner.username, lastUsedAt: null };
  throw new Refusal('resource-not-found', `There is no token with the session '${sessionId.slice(0, 64)}'.`);
}

/** The details of a token, and the form that ends it. */
export const renderEndTokenForm = (
  browsing: BrowserEvidence['browsing'],
  token: OwnedMacaroon,
  { does, back }: { does: string; back: string },
): Html =>
  html`${tokenFacts(token, browsing)} ${formOf(browsing, does, html`<button class="grave">Revoke now</button>`)}
    <p><a href="${back}">Cancel</a></p>`;

const tokenFacts = (token: OwnedMacaroon, { principal }: BrowserEvidence['browsing']): Html =>
  facts([
    ['What for', describePurpose(token)],
    [
      'Whose',
      // Only store administrators may open the page of an account.
      principal.storeAdministrator
        ? html`<a href="${accountAddress(token.accountId)}">${token.username}</a>`
        : token.username,
    ],
    ['May', describePermissions(token)],
    ['Since', time(token.validSince)],
    ['Until', time(token.validUntil)],
    ['Session', html`<code>${token.sessionId}</code>`],
  ]);
