import { addRemodels } from '#acts/brands/remodel-allowlist.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentRemodelEntry, remodelOf } from './present.ts';

export const addRemodelAllowlist = operation({
  name: 'add_remodel_allowlist',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/remodel-allowlist',
  since: 0,
  summary: 'Add permitted remodels: all of the list, or none if one of them is already permitted.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'RemodelAllowlistChange',
  response: 'RemodelAllowlistResponse',
  status: 201,
  refuses: ['conflict'],

  async handle(call) {
    const { brand, body, acts } = call;
    const remodels = body.allowlist.map((item) => ({ ...remodelOf(item), description: item.description }));
    const entries = await acts.do(addRemodels, caller(call), { brandAccountId: brand.accountId, remodels });
    return { allowlist: entries.map(presentRemodelEntry) };
  },
});
