import { isModelName } from '#assertions/types.ts';
import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
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
    const { principal, brand, body, records, now } = call;
    const { name, series } = body;
    if (!isModelName(name)) {
      throw new Refusal(
        'api-error',
        'A model name is made of lower-case letters, digits and single inner dashes at /name',
      );
    }
    const model = {
      brandAccountId: brand.accountId,
      name,
      series,
      apiKey: body['api-key'] || null,
      createdAt: timestamp(now()),
      createdBy: principal.accountId,
      modifiedAt: null,
      modifiedBy: null,
    };
    const object = `brand/${brand.accountId}/model/${name}`;
    const entry = { ...by(call, 'create_model'), at: model.createdAt, object, details: { series } };
    await records.change(entry, async (tx) => {
      if (!(await tx.models.claim(model))) {
        throw new Refusal('conflict', `The brand has a model '${name}' already.`);
      }
    });
    return presentModel(model, await records.brands.people([model.createdBy]));
  },
});
