import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { inWords, noRemodel, presentRemodelEntry, refuseTwins, remodelOf } from './present.ts';

export const updateRemodelAllowlist = operation({
  name: 'update_remodel_allowlist',
  method: 'PATCH',
  path: '/v1/brand/:brand_account_id/remodel-allowlist',
  since: 61,
  summary: 'Describe permitted remodels anew: all of the list, or none.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'RemodelAllowlistChange',
  response: 'RemodelAllowlistResponse',

  async handle(call) {
    const { principal, brand, body, records, now } = call;
    const at = timestamp(now());
    const wanted = body.allowlist.map((one) => ({ ...remodelOf(one), description: one.description }));
    refuseTwins(wanted);
    const object = `brand/${brand.accountId}/remodel-allowlist`;
    const entry = { ...by(call, 'update_remodel_allowlist'), at, object, details: { remodels: wanted.map(inWords) } };
    const entries = await records.change(entry, async (tx) => {
      const changed = [];
      for (const one of wanted) {
        await tx.remodelAllowlist.describe(brand.accountId, { ...one, at, by: principal.accountId });
        const now = await tx.remodelAllowlist.find(brand.accountId, one);
        if (now === undefined) throw noRemodel(one);
        changed.push(now);
      }
      return changed;
    });
    return { allowlist: entries.map(presentRemodelEntry) };
  },
});
