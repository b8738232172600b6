// Finds the account-keys that the online store issued for signing keys of this store.
import { parseAssertion, type Assertion } from '#assertions/format/assertion.ts';
import type { StoreRecords } from '#records/index.ts';

/** The account-keys of these signing keys, by key id; keys without an account-key are missing. */
export async function accountKeysOf(
  keys: readonly { sha3_384: string }[],
  records: Pick<StoreRecords, 'assertions'>,
): Promise<Map<string, Assertion>> {
  const stored = await records.assertions.listOf(keys.map(({ sha3_384 }) => `account-key/${sha3_384}`));
  return new Map(stored.map(({ name, text }) => [name.slice('account-key/'.length), parseAssertion(text)]));
}
