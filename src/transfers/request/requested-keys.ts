// Lists signing keys with a requested registration and no account-key yet. A person has to carry these requests to the online store.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { registrationOf } from '#assertions/keys/registration.ts';
import type { StoreRecords } from '#records/index.ts';
import type { SigningKey } from '#records/keys/signing-keys.ts';

export interface RequestedKey extends Pick<SigningKey, 'brandAccountId' | 'name' | 'sha3_384' | 'requestedAt'> {
  requestedAt: string;
}

/** Returns the keys by brand, and within a brand in order of creation. */
export async function requestedKeys(
  {
    brands,
    signingKeys,
    assertions,
  }: {
    brands: Pick<StoreRecords['brands'], 'list'>;
    signingKeys: Pick<StoreRecords['signingKeys'], 'list'>;
    assertions: Pick<StoreRecords['assertions'], 'find'>;
  },
  now: Date,
): Promise<RequestedKey[]> {
  const requested: RequestedKey[] = [];
  for (const { accountId } of await brands.list()) {
    for (const { brandAccountId, name, sha3_384, requestedAt } of await signingKeys.list(accountId)) {
      if (requestedAt === null) continue;
      const accountKey = await assertions.find(`account-key/${sha3_384}`);
      if (registrationOf(requestedAt, accountKey && parseAssertion(accountKey.text), now) !== 'requested') continue;
      requested.push({ brandAccountId, name, sha3_384, requestedAt });
    }
  }
  return requested;
}
