import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { by } from '../by.ts';

export const deleteBrand = operation({
  name: 'delete_brand',
  method: 'DELETE',
  path: '/v1/brand/:brand_account_id',
  since: 21,
  summary: 'Delete a brand that has neither models nor signing keys; its account stays.',
  access: brandAdministrator('account-manage-metadata', false),
  status: 204,
  refuses: ['conflict'],

  async handle(call) {
    const { brand, records, now } = call;
    const entry = { ...by(call, 'delete_brand'), at: timestamp(now()), object: `brand/${brand.accountId}` };
    await records.change(entry, async (tx) => {
      const use = await tx.brands.inUse(brand.accountId);
      if (use !== undefined) {
        throw new Refusal('conflict', `The brand ${brand.accountId} still has ${use}; delete those first.`);
      }
      await tx.brands.remove(brand.accountId);
    });
    return undefined;
  },
});
