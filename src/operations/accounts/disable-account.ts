import { disableAccount as act } from '#acts/accounts/accounts.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { DisableAccountRequest } from '#contract/wire.ts';
import { timestamp } from '#domain/clock.ts';
import { caller } from '../caller.ts';
import { findAccount, presentState } from './present.ts';

export const disableAccount = operation({
  name: 'disable_account',
  method: 'POST',
  path: '/internal/v1/accounts/:account_id/disable',
  since: 0,
  summary: 'Disable an account from the next request on. With end-tokens, also revoke its tokens permanently.',
  access: storeAdministrator('store-manage'),
  body: 'DisableAccountRequest',
  bodyOptional: true,
  response: 'AccountState',
  refuses: ['conflict'],

  async handle(call) {
    const { params, body, records, authority, acts } = call;
    const account = await findAccount(params.account_id, records);
    const { 'end-tokens': endTokens = false } = (body as DisableAccountRequest | undefined) ?? {};
    const input = { id: account.id, moment: timestamp(authority.latestTime()), endTokens };
    const { disabledAt, endedTokens } = await acts.do(act, caller(call), input);
    return presentState(account, disabledAt, endedTokens);
  },
});
