import { deleteRemodels } from '#acts/brands/remodel-allowlist.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { remodelOf } from './present.ts';

export const deleteRemodelAllowlist = operation({
  name: 'delete_remodel_allowlist',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/remodel-allowlist/delete',
  since: 60,
  summary: 'Delete permitted remodels: all of the list, or none.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'DeleteRemodelAllowlistRequest',
  response: 'DeleteRemodelAllowlistResponse',

  async handle(call) {
    const { brand, body, acts } = call;
    const remodels = body.allowlist.map(remodelOf);
    await acts.do(deleteRemodels, caller(call), { brandAccountId: brand.accountId, remodels });
    return {};
  },
});
