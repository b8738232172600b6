import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';
import { noModel } from '../models/present.ts';
import { inWords, presentRemodelEntry, refuseTwins, remodelOf } from './present.ts';

export const addRemodelAllowlist = operation({
  name: 'add_remodel_allowlist',
  method: 'POST',
  path: '/v1/brand/:brand_account_id/remodel-allowlist',
  since: 0,
  summary: 'Permit remodels: all of the list, or none where one of them is permitted already.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'RemodelAllowlistChange',
  response: 'RemodelAllowlistResponse',
  status: 201,
  refuses: ['conflict'],

  async handle(call) {
    const { principal, brand, body, records, now } = call;
    const at = timestamp(now());
    const entries = body.allowlist.map((one) => ({
      ...remodelOf(one),
      description: one.description,
      createdAt: at,
      createdBy: principal.accountId,
      modifiedAt: null,
      modifiedBy: null,
    }));
    refuseTwins(entries);
    const models = new Set(entries.flatMap(({ fromModel, toModel }) => [fromModel, toModel]));
    const object = `brand/${brand.accountId}/remodel-allowlist`;
    const entry = { ...by(call, 'add_remodel_allowlist'), at, object, details: { remodels: entries.map(inWords) } };
    await records.change(entry, async (tx) => {
      for (const name of models) {
        if ((await tx.models.find(brand.accountId, name)) === undefined) throw noModel(brand.accountId, name);
      }
      for (const one of entries) {
        if (!(await tx.remodelAllowlist.claim(brand.accountId, one))) {
          throw new Refusal('conflict', `The allowlist has the remodel ${inWords(one)} already; nothing was added.`);
        }
      }
    });
    return { allowlist: entries.map(presentRemodelEntry) };
  },
});
