import { endTokens as act } from '#acts/tokens/tokens.ts';
import { storeAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import type { EndTokensRequest } from '#contract/wire.ts';
import { timestamp } from '#domain/clock.ts';
import { caller } from '../caller.ts';
import { findAccount, presentState } from '../accounts/present.ts';

export const endTokens = operation({
  name: 'end_tokens',
  method: 'POST',
  path: '/internal/v1/accounts/:account_id/end-tokens',
  since: 0,
  summary: 'Revoke all tokens of an account, or those issued before a given time, immediately and permanently.',
  access: storeAdministrator('store-manage'),
  body: 'EndTokensRequest',
  bodyOptional: true,
  response: 'AccountState',

  async handle(call) {
    const { params, body, records, authority, acts } = call;
    const account = await findAccount(params.account_id, records);
    const { 'issued-before': before } = (body as EndTokensRequest | undefined) ?? {};
    const issuedBefore = before === undefined ? null : timestamp(new Date(before));
    const input = { id: account.id, moment: timestamp(authority.latestTime()), issuedBefore };
    const ended = await acts.do(act, caller(call), input);
    return presentState(account, await records.accounts.disabledAt(account.id), ended);
  },
});
