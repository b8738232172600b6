// How assertions are asked for: by their type and the values of their primary key, as snapd writes them into addresses.
import { Refusal } from '#domain/refusal.ts';
import { quoted } from './assertion.ts';
import { series, typeOf } from './types.ts';

/** One assertion by its name; or a sequence of them, of which the newest or one of a number is wanted. */
export type Asked = { readonly name: string } | { readonly accountId: string; readonly setName: string };

/** What devices ask for and no store of this kind keeps, with how many values name one: there is none. */
const keptElsewhere: Readonly<Record<string, readonly number[]>> = {
  'base-declaration': [1],
  'confdb-schema': [2],
  'hardware-identity': [2],
  repair: [2],
  'snap-developer': [2],
  validation: [4],
};

/** What is made for one conversation, or waits for somebody's decision. */
const nobodysToRead = ['account-key-request', 'serial-request', 'device-session-request'];

/** The type whose assertions follow one another under the same name. */
const sequenceType = 'validation-set';

/**
 * What a type and the values of its primary key name; those at the end that have a default may be left out.
 *
 * @throws Refusal `api-error` for a type that no device knows, or another number of values
 */
export function askedFor(type: string, keys: readonly string[]): Asked {
  if (Object.hasOwn(keptElsewhere, type)) {
    if (!keptElsewhere[type]?.includes(keys.length)) throw wrongNumber(type, keys);
    return { name: [type, ...keys].join('/') };
  }
  if (nobodysToRead.includes(type))
    throw new Refusal('api-error', `Assertions of type ${quoted(type)} are not given to devices.`);
  const { primaryKey, defaults } = typeOf({ type });
  const [first, accountId, setName, ...more] = keys;
  if (type === sequenceType && accountId !== undefined && setName !== undefined && more.length === 0) {
    // There is one series, and nothing of another.
    return first === series ? { accountId, setName } : { name: [type, ...keys].join('/') };
  }
  const values = primaryKey.map((name, at) => keys[at] ?? defaults?.[name]);
  if (keys.length > primaryKey.length || values.includes(undefined)) throw wrongNumber(type, keys);
  return { name: [type, ...values].join('/') };
}

const wrongNumber = (type: string, { length }: readonly string[]): Refusal =>
  new Refusal('api-error', `${length} ${length === 1 ? 'value names' : 'values name'} no assertion of type '${type}'.`);
