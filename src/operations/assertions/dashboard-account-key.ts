import { parseAssertion } from '#assertions/assertion.ts';
import { checkSignature } from '#assertions/chain.ts';
import { decodePublicKey } from '#assertions/openpgp.ts';
import { checkAssertion } from '#assertions/types.ts';
import { account } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { asKept } from './keep.ts';

export const dashboardAccountKey = operation({
  name: 'dashboard_account_key',
  method: 'POST',
  path: '/dev/api/account/account-key',
  since: 0,
  summary: "Take a request to register a publisher's own key, as the older publishing tools ask for it.",
  access: account('store', 'account-manage-keys'),
  errors: 'dashboard',
  body: 'DashboardAccountKeyRequest',
  response: 'DashboardAccountKeyResponse',
  // Only the online store registers keys: the request is kept until an administrator carries it there.
  status: 202,
  refuses: ['conflict'],

  async handle(call) {
    const { principal, body, records, now } = call;
    const asked = parseAssertion(body.account_key_request);
    if (asked.type !== 'account-key-request') {
      throw new Refusal('api-error', `This is an assertion of type ${asked.type}, not an account-key-request.`);
    }
    checkAssertion(asked);
    checkSignature(asked, decodePublicKey(asked.body));
    if (asked.headers['account-id'] !== principal.accountId) {
      throw new Refusal('api-error', 'The request is for a key of another account; make it with your own account id.');
    }
    const keyId = asked.headers['public-key-sha3-384'] as string;
    const at = timestamp(now());
    const object = `account/${principal.accountId}`;
    const kept = asKept(asked, 'imported', { actor: principal.accountId, at, action: 'dashboard_account_key', object });
    const known = await records.assertions.find(kept.name);
    if (known?.text !== kept.text) {
      const entry = { ...by(call, 'dashboard_account_key'), at, object, details: { key: keyId } };
      await records.change(entry, async (tx) => {
        if (await tx.assertions.keep(kept)) return;
        throw new Refusal('conflict', `It was asked before to register the key ${keyId}, and that request waits here.`);
      });
    }
    return { 'public-key-sha3-384': keyId };
  },
});
