import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { noModel } from './present.ts';

export const deleteModel = operation({
  name: 'delete_model',
  method: 'DELETE',
  path: '/v1/brand/:brand_account_id/model/:model_name',
  since: 22,
  summary: 'Delete a device model that has neither serial policies nor entries of the remodel allowlist.',
  access: brandAdministrator('account-manage-metadata', false),
  status: 204,
  refuses: ['conflict'],

  async handle(call) {
    const { brand, params, records, now } = call;
    const { model_name: name } = params;
    const object = `brand/${brand.accountId}/model/${name}`;
    await records.change({ ...by(call, 'delete_model'), at: timestamp(now()), object }, async (tx) => {
      const model = await tx.models.find(brand.accountId, name);
      if (model === undefined) throw noModel(brand.accountId, name);
      const use = await tx.models.inUse(brand.accountId, name);
      if (use === 'serial policies') {
        throw new Refusal('conflict', `The model '${name}' still has serial policies; delete those first.`);
      }
      if (use !== undefined) {
        throw new Refusal(
          'conflict',
          `The remodel allowlist still names the model '${name}'; delete those entries first.`,
        );
      }
      await tx.models.remove(brand.accountId, name);
    });
    return undefined;
  },
});
