import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { timestamp } from '#domain/clock.ts';
import { by } from '../by.ts';
import { presentBrand } from './present.ts';

export const updateBrand = operation({
  name: 'update_brand',
  method: 'PATCH',
  path: '/v1/brand/:brand_account_id',
  since: 21,
  summary: 'Give a brand another name.',
  access: brandAdministrator('account-manage-metadata', false),
  body: 'UpdateBrandRequest',
  response: 'Brand',

  async handle(call) {
    const { principal, brand, body, records, now } = call;
    const at = timestamp(now());
    const renamed = { ...brand, name: body.name, modifiedAt: at, modifiedBy: principal.accountId };
    const entry = { ...by(call, 'update_brand'), at, object: `brand/${brand.accountId}`, details: { name: body.name } };
    await records.change(entry, (tx) => tx.brands.rename(renamed));
    return presentBrand(renamed, await records.brands.people([renamed.createdBy, renamed.modifiedBy]));
  },
});
