import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { membersIn, pick } from '../../present.ts';
import { presentModel } from './present.ts';

export const readModels = operation({
  name: 'read_models',
  method: 'GET',
  path: '/v1/brand/:brand_account_id/model',
  since: 22,
  summary: "List a brand's device models.",
  access: brandAdministrator('account-manage-metadata', true),
  query: 'BrandQuery',
  response: 'ModelList',

  async handle({ brand, query, records }) {
    const members = membersIn(query.fields);
    const models = await records.models.list(brand.accountId);
    const people = await records.accounts.byIds(models.flatMap((model) => [model.createdBy, model.modifiedBy]));
    return models.map((model) => pick(presentModel(model, people), members));
  },
});
