import { storeAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import type { DisableAccountRequest } from '#api/wire.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { disable } from './disable.ts';
import { accountNamed, presentState } from './present.ts';

export const disableAccount = operation({
  name: 'disable_account',
  method: 'POST',
  path: '/internal/v1/accounts/:account_id/disable',
  since: 0,
  summary: 'Let an account in no more, from the next request on; with end-tokens its tokens end for good.',
  access: storeAdministrator('store-manage'),
  body: 'DisableAccountRequest',
  bodyOptional: true,
  response: 'AccountState',
  refuses: ['conflict'],

  async handle(call) {
    const { principal, params, body, records, authority } = call;
    const account = await accountNamed(params.account_id, records);
    const at = timestamp(authority.latestTime());
    const entry = { ...by(call, 'disable_account'), at, object: `account/${account.id}` };
    const { 'end-tokens': endTokens = false } = (body as DisableAccountRequest | undefined) ?? {};
    const ended = await records.change(entry, async (tx, note) => {
      const tokens = await disable(tx, account.id, { at, by: principal.accountId, endTokens });
      if (tokens !== undefined) note({ 'ended-tokens': tokens });
      return tokens;
    });
    return presentState(account, await records.accounts.disabledAt(account.id), ended);
  },
});
