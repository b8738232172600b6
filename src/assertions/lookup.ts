// Resolves lookups of assertions by type and primary key, as snapd writes them into URLs.
import { Refusal } from '#domain/refusal.ts';
import { quoted } from './format/assertion.ts';
import { series, typeOf, whyUnserved } from './format/types.ts';

/** The assertion that a device asks for: by its name, or the newest validation set of an account with this set name. */
export type AssertionLookup = { readonly name: string } | { readonly accountId: string; readonly setName: string };

/** Other types that devices request but only the online store has, with the possible number of key values. Lookups find nothing. */
const onlineStoreTypes: Readonly<Record<string, readonly number[]>> = {
  'base-declaration': [1],
  'hardware-identity': [2],
  'snap-developer': [2],
  validation: [4],
};

/** Types that devices may not read: they are made for one exchange, or wait for a decision. */
const unreadableTypes = ['account-key-request', 'serial-request', 'device-session-request'];

/** The type with a number at the end of its primary key. Without the number a device asks for the newest one. */
const sequenceType = 'validation-set';

/**
 * Resolves a type and its primary key values. Trailing values with a default may be omitted.
 *
 * @throws Refusal `api-error` for an unknown type or a wrong number of values; `not-found` for a type that is not served, which snapd
 * takes for a missing assertion
 */
export function resolveLookup(type: string, keys: readonly string[]): AssertionLookup {
  const reason = whyUnserved(type);
  if (reason !== undefined) throw new Refusal('not-found', reason);
  if (Object.hasOwn(onlineStoreTypes, type)) {
    if (!onlineStoreTypes[type]?.includes(keys.length)) throw wrongNumber(type, keys);
    return { name: [type, ...keys].join('/') };
  }
  if (unreadableTypes.includes(type))
    throw new Refusal('api-error', `Assertions of type ${quoted(type)} are not given to devices.`);
  const { primaryKey, defaults } = typeOf({ type });
  const [first, accountId, setName, ...more] = keys;
  if (type === sequenceType && accountId !== undefined && setName !== undefined && more.length === 0) {
    // Only one series exists; a name in another series finds nothing.
    return first === series ? { accountId, setName } : { name: [type, ...keys].join('/') };
  }
  const values = primaryKey.map((name, at) => keys[at] ?? defaults?.[name]);
  if (keys.length > primaryKey.length || values.includes(undefined)) throw wrongNumber(type, keys);
  return { name: [type, ...values].join('/') };
}

const wrongNumber = (type: string, { length }: readonly string[]): Refusal =>
  new Refusal('api-error', `${length} ${length === 1 ? 'value names' : 'values name'} no assertion of type '${type}'.`);
