import { joined } from '#assertions/format/assertion.ts';
import { registrationOf } from '#assertions/keys/registration.ts';
import { brandAdministrator } from '#access/access-rules.ts';
import { operation } from '#http/operation.ts';
import { accountKeysOf } from '../assertions/account-keys.ts';
import { membersIn, pick } from '../present.ts';
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

  async handle({ brand, query, records, now }) {
    const members = membersIn(query.fields);
    const keys = await records.signingKeys.list(brand.accountId);
    const registered = await accountKeysOf(keys, records);
    const people = await records.accounts.byIds(keys.flatMap((key) => [key.createdBy, key.modifiedBy]));
    return keys.map((key) => {
      const shown = presentSigningKey(key, people);
      const accountKey = registered.get(key.sha3_384);
      const status = registrationOf(key.requestedAt, accountKey, now());
      const more = {
        ...shown,
        status,
        'manager-key': key.managerKey,
        'account-key': accountKey === undefined ? null : joined(accountKey),
      };
      // `status`, `manager-key` and `account-key` are not part of the published interface: include them only if `fields` names one of them.
      const isAskedFor = !members.isAll && ['status', 'manager-key', 'account-key'].some((name) => members.has(name));
      return pick(isAskedFor ? more : shown, members);
    });
  },
});
