// Finds the charms that a bundle deploys and the bundles that deploy a charm, as far as they are public.
import type { HandlerRecords } from '#http/handler-records.ts';
import type { PublicCharms } from '#access/public-charms.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { listBundleCharms } from '#review/named-packages.ts';
import { selectionWithin, type CharmFieldSelection } from './field-selection.ts';

export interface RelatedCharms {
  /** The charms of a bundle; the id is empty if the charm is not public here. */
  contains: readonly { name: string; id: string }[];
  /** The names of bundles. */
  usedBy: readonly string[];
}

/** Maximum number of charms of a bundle, and of bundles of a charm, in a response. */
const maxRelated = 200;
/** Maximum number of bundles that are searched for the name of a charm; takes about a millisecond. */
const maxBundles = 500;

/** Reads only the members that the request selects. `text` is the bundle file of the revision that is deployed by default. */
export async function findRelatedCharms(
  { name, type }: PublishedPackage,
  text: string,
  {
    selection,
    charms,
    records,
  }: { selection: CharmFieldSelection; charms: PublicCharms; records: Pick<HandlerRecords, 'heldRevisions'> },
): Promise<RelatedCharms> {
  const isWanted = (member: string): boolean => {
    const result = selectionWithin(selection, 'result');
    return result !== undefined && selectionWithin(result, member) !== undefined;
  };
  if (type === 'bundle')
    return { contains: isWanted('contains-charms') ? await charmsIn(text, charms) : [], usedBy: [] };
  return { contains: [], usedBy: isWanted('used-by') ? await bundlesOf(name, records) : [] };
}

/** The names of the charms that a bundle deploys, without duplicates. */
const namesIn = (text: string): string[] => [...new Set(listBundleCharms(text).map(({ name }) => name))];

async function charmsIn(text: string, charms: PublicCharms): Promise<RelatedCharms['contains']> {
  const names = namesIn(text).slice(0, maxRelated);
  return Promise.all(names.map(async (name) => ({ name, id: (await charms.findByName(name))?.id ?? '' })));
}

async function bundlesOf(charm: string, { heldRevisions }: Pick<HandlerRecords, 'heldRevisions'>): Promise<string[]> {
  const bundles = await heldRevisions.publicBundlesNaming(charm, maxBundles);
  const using = bundles.filter(({ text }) => namesIn(text).includes(charm)).map(({ name }) => name);
  return [...new Set(using)].slice(0, maxRelated);
}
