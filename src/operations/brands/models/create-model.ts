import { createModel as act } from '#acts/brands/models.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { caller } from '../../caller.ts';
import { presentModel } from './present.ts';

export const createModel = operation({
  name: 'create_model',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/model',
  since: 22,
  summary: 'Add a device model to a brand.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'CreateModelRequest',
  response: 'Model',
  status: 201,
  refuses: ['conflict'],

  async handle(call) {
    const { brand, body, records, acts } = call;
    const { name, series, 'api-key': apiKey } = body;
    const input = { brandAccountId: brand.accountId, name, series, apiKey: apiKey || null };
    const model = await acts.do(act, caller(call), input);
    return presentModel(model, await records.accounts.byIds([model.createdBy]));
  },
});
