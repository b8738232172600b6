// The page "my account": the name, the login, and the other sessions and tokens of the account that is logged in.
import { updateOwnAccount } from '#acts/accounts/details.ts';
import { revokeOwnToken } from '#acts/tokens/tokens.ts';
import { account } from '#access/access-rules.ts';
import { html } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { caller } from '#operations/caller.ts';
import { readTokensPage } from '#operations/tokens/tokens-page.ts';
import type { OwnedMacaroon } from '#records/tokens/macaroons.ts';
import { withQuery } from '../parts/address.ts';
import { field, formOf } from '../parts/form.ts';
import { badge } from '../parts/notice.ts';
import { facts, nextPage, pageSize, table } from '../parts/table.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { tokenColumns } from '../tokens/token-cells.ts';
import { renderEndTokenForm, findOwnedToken } from '../tokens/tokens.ts';

const withMessage = declareMessages({
  'name-changed': 'Your display name is changed.',
  'own-token-ended': 'The token is revoked.',
});

const myselfAddress = '/console/myself';

const endingAddress = ({ sessionId }: Pick<OwnedMacaroon, 'sessionId'>): string =>
  `${myselfAddress}/tokens/${encodeURIComponent(sessionId)}/end`;

export const consoleMyself = screen({
  name: 'console_myself',
  path: myselfAddress,
  summary: 'Show your own account: name, credentials, tokens and sessions.',
  access: account('token'),
  query: 'ConsolePageQuery',

  async show({ principal, query, records, authority, browsing }) {
    const { accountId, sessionId, username, displayName, email } = principal;
    const now = authority.latestTime();
    const { cursor } = query;
    const sought = { accountId, now: timestamp(now), endingBefore: undefined, includeInactive: false, size: pageSize };
    const { entries, next } = await readTokensPage(records, { ...(cursor !== undefined && { cursor }) }, sought);
    const roles = await records.accounts.rolesOf(accountId);
    const hasTotp = (await records.totpSecrets.find(accountId)) !== undefined;
    const { purpose, may, since, until, used, end } = tokenColumns({
      now,
      ending: endingAddress,
      ownSession: sessionId,
    });
    return {
      title: 'Myself',
      lead: html`You are logged in as <code>${username}</code>.`,
      content: html`${facts([
          ['Account id', html`<code>${accountId}</code>`],
          ['E-mail', email],
          ['Roles', roles.length === 0 ? 'A publisher' : roles.join(', ')],
          ['Password', html`<a href="${myselfAddress}/password">Change it</a>`],
          [
            'One-time passwords',
            html`${hasTotp ? badge('good', 'asked for') : badge('note', 'not asked for')}
              <a href="${myselfAddress}/one-time-passwords">${hasTotp ? 'Recovery codes, or turn off' : 'Turn on'}</a>`,
          ],
        ])}
        <p class="hint">A store administrator can change your user name and your e-mail address.</p>
        ${formOf(
          browsing,
          `${myselfAddress}/name`,
          html`${field({
              name: 'display-name',
              label: 'Display name',
              value: displayName,
              required: true,
              maxLength: 128,
              autocomplete: 'name',
              hint: 'The name that other people see.',
            })} <button class="second">Change it</button>`,
        )}
        <h2>Tokens and logins</h2>
        <p>Each of these gives access as you. Revoke any that you do not recognize.</p>
        ${table({
          caption: 'Your tokens and sessions, newest first',
          columns: [purpose, may, since, until, used, end],
          rows: entries,
          empty: 'Nothing is.',
        })}
        ${nextPage(next && withQuery(myselfAddress, { cursor: next }))}
        <p><a class="button" href="${myselfAddress}/new-token">New token</a></p>`,
    };
  },
});

export const consoleUpdateMyself = formHandler({
  name: 'console_update_myself',
  path: '/console/myself/name',
  summary: 'Change your own display name.',
  access: account('store', 'account-manage-metadata'),
  body: 'ConsoleDisplayName',

  async perform(call) {
    const update = { id: call.principal.accountId, displayName: call.body['display-name'].trim() };
    await call.acts.do(updateOwnAccount, caller(call), update);
    return withMessage(myselfAddress, 'name-changed');
  },
});

export const consoleAskEndOwnToken = screen({
  name: 'console_ask_end_own_token',
  path: '/console/myself/tokens/:session_id/end',
  summary: 'Show one of your own tokens, and ask whether to revoke it.',
  access: account('token'),

  async show({ params, principal, records, browsing }) {
    const token = await findOwnedToken(records, params.session_id);
    if (token.accountId !== principal.accountId) {
      throw new Refusal(
        'resource-not-found',
        `You have no token with the session '${params.session_id.slice(0, 64)}'.`,
      );
    }
    const isThis = token.sessionId === principal.sessionId;
    return {
      title: isThis ? 'End this login?' : 'End this token?',
      lead: isThis
        ? 'You are using this login now. After it ends, you must log in again.'
        : 'From the next request on, the token is not valid. Programs that use it need another one.',
      content: renderEndTokenForm(browsing, token, { does: endingAddress(token), back: myselfAddress }),
    };
  },
});

export const consoleEndOwnToken = formHandler({
  name: 'console_end_own_token',
  path: '/console/myself/tokens/:session_id/end',
  summary: 'Revoke one of your own tokens or logins, immediately and permanently.',
  access: account('token'),
  body: 'ConsoleForm',

  async perform(call) {
    const { accountId } = call.principal;
    await call.acts.do(revokeOwnToken, caller(call), { sessionId: call.params.session_id, accountId });
    return withMessage(myselfAddress, 'own-token-ended');
  },
});
