import { storeKeyRequest, readKeyRequest } from '#acts/assertions/assertions.ts';
import { joined } from '#assertions/format/assertion.ts';
import { nameOf } from '#assertions/format/types.ts';
import { account } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../caller.ts';

export const dashboardAccountKey = operation({
  name: 'dashboard_account_key',
  method: 'POST',
  path: '/dev/api/account/account-key',
  since: 0,
  summary: "Register a publisher's own key, for the older publishing tools.",
  access: account('store', 'account-manage-keys'),
  errors: 'dashboard',
  body: 'DashboardAccountKeyRequest',
  response: 'DashboardAccountKeyResponse',
  // Only the online store registers keys: the request is stored until an administrator takes it there.
  status: 202,
  refuses: ['conflict'],

  async handle(call) {
    const { principal, body, records, acts } = call;
    const { accountId } = principal;
    const request = readKeyRequest(body.account_key_request);
    const stored = await records.assertions.find(nameOf(request));
    // A request that is already stored changes nothing.
    if (stored?.keptBy !== accountId || stored.text !== joined(request)) {
      await acts.do(storeKeyRequest, caller(call), { accountId, request });
    }
    return { 'public-key-sha3-384': request.headers['public-key-sha3-384'] as string };
  },
});
