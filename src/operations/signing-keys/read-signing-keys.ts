import { brandAdministrator } from '#api/access.ts';
import { operation } from '#api/operation.ts';
import { pick } from '../present.ts';
import { presentSigningKey } from './present.ts';

export const readSigningKeys = operation({
  name: 'read_signing_keys',
  method: 'GET',
  path: '/v1/brand/:brand_account_id/signing_key',
  since: 23,
  summary: "List a brand's signing keys.",
  access: brandAdministrator('account-manage-keys', true),
  query: 'BrandQuery',
  response: 'SigningKeyList',

  async handle({ brand, query, records }) {
    const keys = await records.signingKeys.list(brand.accountId);
    const people = await records.brands.people(keys.flatMap((key) => [key.createdBy, key.modifiedBy]));
    return keys.map((key) => pick(presentSigningKey(key, people), query.fields));
  },
});
