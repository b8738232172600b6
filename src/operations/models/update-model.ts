import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { noModel, presentModel } from './present.ts';

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
    const { principal, brand, params, body, records, now } = call;
    const at = timestamp(now());
    const object = `brand/${brand.accountId}/model/${params.model_name}`;
    // Which members were given, and never the api-key itself: the audit log is read by others.
    const entry = { ...by(call, 'update_model'), at, object, details: { changed: Object.keys(body).sort() } };
    const changed = await records.change(entry, async (tx) => {
      const model = await tx.models.find(brand.accountId, params.model_name);
      if (model === undefined) throw noModel(brand.accountId, params.model_name);
      const apiKey = body['api-key'] === undefined ? model.apiKey : body['api-key'] || null;
      const series = body.series ?? model.series;
      const fresh = { ...model, apiKey, series, modifiedAt: at, modifiedBy: principal.accountId };
      await tx.models.change(fresh);
      return fresh;
    });
    return presentModel(changed, await records.brands.people([changed.createdBy, changed.modifiedBy]));
  },
});
