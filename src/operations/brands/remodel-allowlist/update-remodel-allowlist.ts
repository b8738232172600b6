import { updateRemodels } from '#acts/brands/remodel-allowlist.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentRemodelEntry, remodelOf } from './present.ts';

export const updateRemodelAllowlist = operation({
  name: 'update_remodel_allowlist',
  method: 'PATCH',
  path: '/v1/brand/:brand_account_id/remodel-allowlist',
  since: 61,
  summary: 'Change the descriptions of permitted remodels: all of the list, or none.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'RemodelAllowlistChange',
  response: 'RemodelAllowlistResponse',

  async handle(call) {
    const { brand, body, acts } = call;
    const remodels = body.allowlist.map((item) => ({ ...remodelOf(item), description: item.description }));
    const entries = await acts.do(updateRemodels, caller(call), { brandAccountId: brand.accountId, remodels });
    return { allowlist: entries.map(presentRemodelEntry) };
  },
});
