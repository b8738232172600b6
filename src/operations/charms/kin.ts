// What a bundle deploys, and which bundles deploy a charm, as far as anybody may know it.
import type { HandlerRecords } from '#api/handler-records.ts';
import type { PublicCharms } from '#api/public-charms.ts';
import type { PublishedPackage } from '#records/packages.ts';
import { charmsOfBundle } from '#review/named-in.ts';
import { within, type Wanted } from './members.ts';

export interface Kin {
  /** The charms of a bundle; the id is empty of one that is not here for anybody. */
  contains: readonly { name: string; id: string }[];
  /** The names of bundles. */
  usedBy: readonly string[];
}

/** So many charms of a bundle, and bundles of a charm, are told. */
const mostTold = 200;
/** So many bundles are looked through for the name of a charm, in a millisecond and more. */
const mostBundles = 500;

/** Read where somebody wants to hear it alone; `text` is what the bundle says that is deployed by default. */
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

/** The names of the charms that a bundle deploys, each once. */
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
