import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { noModel } from '../models/present.ts';

export const deleteSerialPolicy = operation({
  name: 'delete_serial_policy',
  method: 'DELETE',
  path: '/v1/brand/:brand_account_id/model/:model_name/serial_policy/:revision',
  since: 0,
  summary: 'Delete a serial policy; the newest of those that are left counts from then on.',
  access: brandAdministrator('account-manage-metadata', false),
  status: 204,

  async handle(call) {
    const { brand, params, records, now } = call;
    const { model_name: name, revision } = params;
    const object = `brand/${brand.accountId}/model/${name}`;
    const entry = { ...by(call, 'delete_serial_policy'), at: timestamp(now()), object, details: { revision } };
    await records.change(entry, async (tx) => {
      if ((await tx.models.find(brand.accountId, name)) === undefined) throw noModel(brand.accountId, name);
      const isNumber = /^[1-9][0-9]{0,9}$/.test(revision);
      if (!isNumber || !(await tx.serialPolicies.remove(brand.accountId, name, Number(revision)))) {
        throw new Refusal('resource-not-found', `The model '${name}' has no serial policy ${revision.slice(0, 20)}.`);
      }
    });
    return undefined;
  },
});
