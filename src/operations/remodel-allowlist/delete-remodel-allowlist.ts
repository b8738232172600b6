import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { inWords, noRemodel, refuseTwins, remodelOf } from './present.ts';

export const deleteRemodelAllowlist = operation({
  name: 'delete_remodel_allowlist',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/remodel-allowlist/delete',
  since: 60,
  summary: 'Permit remodels no more: all of the list, or none.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'DeleteRemodelAllowlistRequest',
  response: 'DeleteRemodelAllowlistResponse',

  async handle(call) {
    const { brand, body, records, now } = call;
    const unwanted = body.allowlist.map(remodelOf);
    refuseTwins(unwanted);
    const object = `brand/${brand.accountId}/remodel-allowlist`;
    const details = { remodels: unwanted.map(inWords) };
    const entry = { ...by(call, 'delete_remodel_allowlist'), at: timestamp(now()), object, details };
    await records.change(entry, async (tx) => {
      for (const one of unwanted) {
        if (!(await tx.remodelAllowlist.remove(brand.accountId, one))) throw noRemodel(one);
      }
    });
    return {};
  },
});
