// The form handlers of an account page. Handlers that take access away first ask, and show the affected people.
import { disableAccount, enableAccount } from '#acts/accounts/accounts.ts';
import { setQuota } from '#acts/accounts/quotas.ts';
import { endTokens } from '#acts/tokens/tokens.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { html } from '#http/pages/html.ts';
import { timestamp } from '#domain/clock.ts';
import { readLimit } from '#operations/accounts/quota-limits.ts';
import { toStoredLimit } from '#operations/accounts/present-quota.ts';
import { findAccount } from '#operations/accounts/present.ts';
import { caller } from '#operations/caller.ts';
import type { Holdings } from '#records/accounts/holdings.ts';
import { formOf, tick } from '../parts/form.ts';
import { formatCount, isolated } from '../parts/values.ts';
import { declareMessages } from '../messages.ts';
import { formHandler, screen } from '../screen.ts';
import { invalidLimit } from './account.ts';
import { accountAddress } from './address.ts';

const withMessage = declareMessages({
  'account-disabled': 'The account is disabled. The store refuses its password and its tokens.',
  'account-enabled': 'The account is enabled.',
  'tokens-ended': 'All tokens of the account are revoked.',
  'quota-set': 'The quota is changed.',
});

export const consoleAskDisable = screen({
  name: 'console_ask_disable_account',
  path: '/console/people/:account_id/disable',
  summary: 'Show the consequences of disabling an account, and ask for confirmation.',
  access: storeAdministrator('store-manage'),
  refuses: ['forbidden'],

  async show({ params, records, authority, browsing }) {
    const { id, displayName } = await findAccount(params.account_id, records);
    const held = await records.holdings.of(id, timestamp(authority.latestTime()));
    return {
      title: `Disable ${isolated(displayName)}?`,
      lead: html`From the next request on, the store refuses <bdi>${displayName}</bdi> and every token of the account.`,
      content: html`<p>Not valid while the account is disabled: ${describeSuspended(held)}.</p>
        <p>Unchanged: ${describeKept(held)}. Devices still receive the released revisions.</p>
        ${formOf(
          browsing,
          accountAddress(id, 'disable'),
          html`${tick('end-tokens', 'Revoke its tokens permanently, so that they stay invalid after the account is enabled again')}
            <button class="grave">Disable <bdi>${displayName}</bdi></button>`,
        )}
        <p><a href="${accountAddress(id)}">Cancel</a></p>`,
    };
  },
});

export const consoleDisable = formHandler({
  name: 'console_disable_account',
  path: '/console/people/:account_id/disable',
  summary: 'Disable an account.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleDisable',
  refuses: ['conflict'],

  async perform(call) {
    const { params, body, records, authority, acts } = call;
    const { id } = await findAccount(params.account_id, records);
    const moment = timestamp(authority.latestTime());
    await acts.do(disableAccount, caller(call), { id, moment, endTokens: body['end-tokens'] === 'yes' });
    return withMessage(accountAddress(id), 'account-disabled');
  },
});

export const consoleEnable = formHandler({
  name: 'console_enable_account',
  path: '/console/people/:account_id/enable',
  summary: 'Enable a disabled account.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleForm',
  refuses: ['conflict'],

  async perform(call) {
    const { id } = await findAccount(call.params.account_id, call.records);
    await call.acts.do(enableAccount, caller(call), { id });
    return withMessage(accountAddress(id), 'account-enabled');
  },
});

export const consoleAskEndTokens = screen({
  name: 'console_ask_end_tokens',
  path: '/console/people/:account_id/end-tokens',
  summary: 'Show how many tokens of an account would be revoked, and ask for confirmation.',
  access: storeAdministrator('store-manage'),
  refuses: ['forbidden'],

  async show({ params, records, authority, browsing }) {
    const { id, displayName } = await findAccount(params.account_id, records);
    const { tokens } = await records.holdings.of(id, timestamp(authority.latestTime()));
    return {
      title: `Revoke all tokens of ${isolated(displayName)}?`,
      lead: `${formatCount(tokens, 'token and session', 'tokens and sessions')} will be revoked immediately and permanently.`,
      content: html`<p>
          <bdi>${displayName}</bdi> and every machine with one of these tokens must log in again or get a new token. The
          password stays valid: if other people may know it, make a new link to set a password.
        </p>
        ${formOf(browsing, accountAddress(id, 'end-tokens'), html`<button class="grave">Revoke all tokens</button>`)}
        <p><a href="${accountAddress(id)}">Cancel</a></p>`,
    };
  },
});

export const consoleEndTokens = formHandler({
  name: 'console_end_tokens',
  path: '/console/people/:account_id/end-tokens',
  summary: 'Revoke all tokens of an account immediately and permanently.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleForm',

  async perform(call) {
    const { id } = await findAccount(call.params.account_id, call.records);
    const moment = timestamp(call.authority.latestTime());
    await call.acts.do(endTokens, caller(call), { id, moment, issuedBefore: null });
    return withMessage(accountAddress(id), 'tokens-ended');
  },
});

export const consoleSetQuota = formHandler({
  name: 'console_set_quota',
  path: '/console/people/:account_id/quota',
  summary: 'Set the quota of a publisher: bytes and packages.',
  access: storeAdministrator('store-manage'),
  body: 'ConsoleQuota',

  async perform(call) {
    const { id } = await findAccount(call.params.account_id, call.records);
    const readQuotaField = (of: 'bytes' | 'packages'): number | null => {
      const limit = readLimit(of, call.body[of].trim());
      if (limit === undefined) throw invalidLimit(of, call.body[of]);
      return toStoredLimit(limit);
    };
    const quota = { bytes: readQuotaField('bytes'), packages: readQuotaField('packages') };
    await call.acts.do(setQuota, caller(call), { id, quota });
    return withMessage(accountAddress(id), 'quota-set');
  },
});

const describeSuspended = ({ tokens, agents, pushCredentials, setUpLinks }: Holdings): string =>
  joinCounts([
    [tokens, 'token or session', 'tokens and sessions'],
    [agents, 'agent', 'agents'],
    [pushCredentials, 'credential to push images', 'credentials to push images'],
    [setUpLinks, 'link to set a password', 'links to set a password'],
  ]);

const describeKept = ({ packages, collaborations, invites, brands }: Holdings): string =>
  joinCounts([
    [packages, 'package', 'packages'],
    [collaborations, 'collaboration', 'collaborations'],
    [invites, 'invite to answer', 'invites to answer'],
    [brands, 'brand', 'brands'],
  ]);

function joinCounts(parts: readonly (readonly [number, string, string])[]): string {
  const some = parts
    .filter(([number]) => number > 0)
    .map(([number, singular, many]) => formatCount(number, singular, many));
  return some.length === 0 ? 'nothing' : some.join(', ');
}
