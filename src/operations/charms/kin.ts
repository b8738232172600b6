// Finds the charms that a bundle deploys and the bundles that deploy a charm, as far as they are public.
import type { HandlerRecords } from '#api/handler-records.ts';
import type { PublicCharms } from '#api/public-charms.ts';
import type { PublishedPackage } from '#records/packages.ts';
import { charmsOfBundle } from '#review/named-in.ts';
import { within, type Wanted } from './members.ts';

export interface Kin {
  /** The charms of a bundle; the id is empty if the charm is not public here. */
  contains: readonly { name: string; id: string }[];
  /** The names of bundles. */
  usedBy: readonly string[];
}

/** Maximum number of charms of a bundle, and of bundles of a charm, in a response. */
const mostTold = 200;
/** Maximum number of bundles that are searched for the name of a charm; takes about a millisecond. */
const mostBundles = 500;

/** Reads only the members that the request selects. `text` is the bundle file of the revision that is deployed by default. */
export async function kinOf(
  { name, type }: PublishedPackage,
  text: string,
  { wanted, charms, records }: { wanted: Wanted; charms: PublicCharms; records: Pick<HandlerRecords, 'heldRevisions'> },
): Promise<Kin> {
  const isWanted = (member: string): boolean => {
    const result = within(wanted, 'result');
    return result !== undefined && within(result, member) !== undefined;
  };
  if (type === 'bundle')
    return { contains: isWanted('contains-charms') ? await charmsIn(text, charms) : [], usedBy: [] };
  return { contains: [], usedBy: isWanted('used-by') ? await bundlesOf(name, records) : [] };
}

/** The names of the charms that a bundle deploys, without duplicates. */
const namesIn = (text: string): string[] => [...new Set(charmsOfBundle(text).map(({ name }) => name))];

async function charmsIn(text: string, charms: PublicCharms): Promise<Kin['contains']> {
  const named = namesIn(text).slice(0, mostTold);
  return Promise.all(named.map(async (name) => ({ name, id: (await charms.named(name))?.id ?? '' })));
}

async function bundlesOf(charm: string, { heldRevisions }: Pick<HandlerRecords, 'heldRevisions'>): Promise<string[]> {
  const found = await heldRevisions.publicBundlesNaming(charm, mostBundles);
  const using = found.filter(({ text }) => namesIn(text).includes(charm)).map(({ name }) => name);
  return [...new Set(using)].slice(0, mostTold);
}
