import { storeAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import type { EndTokensRequest } from '#api/wire.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { accountNamed, presentState } from './present.ts';

export const endTokens = operation({
  name: 'end_tokens',
  method: 'POST',
  path: '/internal/v1/accounts/:account_id/end-tokens',
  since: 0,
  summary: 'End all tokens of an account at once and for good, or those issued before a moment.',
  access: storeAdministrator('store-manage'),
  body: 'EndTokensRequest',
  bodyOptional: true,
  response: 'AccountState',

  async handle(call) {
    const { principal, params, body, records, authority } = call;
    const account = await accountNamed(params.account_id, records);
    const at = timestamp(authority.latestTime());
    const { 'issued-before': before } = (body as EndTokensRequest | undefined) ?? {};
    const issuedBefore = before === undefined ? null : timestamp(new Date(before));
    const details = { ...(issuedBefore !== null && { 'issued-before': issuedBefore }) };
    const entry = { ...by(call, 'end_tokens'), at, object: `account/${account.id}`, details };
    const ended = await records.change(entry, async (tx, note) => {
      const tokens = await tx.macaroons.endAll(account.id, { at, by: principal.accountId, issuedBefore });
      note({ 'ended-tokens': tokens });
      return tokens;
    });
    return presentState(account, await records.accounts.disabledAt(account.id), ended);
  },
});
