import { updateModel as act } from '#acts/brands/models.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentModel } from './present.ts';

export const updateModel = operation({
  name: 'update_model',
  method: 'PATCH',
  path: '/v1/brand/:brand_account_id/model/:model_name',
  since: 22,
  summary: 'Change the series or the api-key of a device model.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'UpdateModelRequest',
  response: 'Model',

  async handle(call) {
    const { brand, params, body, records, acts } = call;
    const { series, 'api-key': apiKey } = body;
    const changed = await acts.do(act, caller(call), {
      brandAccountId: brand.accountId,
      name: params.model_name,
      change: { ...(series !== undefined && { series }), ...(apiKey !== undefined && { apiKey: apiKey || null }) },
    });
    return presentModel(changed, await records.accounts.byIds([changed.createdBy, changed.modifiedBy]));
  },
});
