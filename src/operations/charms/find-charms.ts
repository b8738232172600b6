import type { HandlerRecords } from '#http/handler-records.ts';
import { operation } from '#http/operation.ts';
import { publicCharms, type PublicCharms } from '#access/public-charms.ts';
import { notModified, respondRevalidated } from '#http/response/revalidation.ts';
import type { CharmFindQuery, CharmFindResponse, FoundCharm } from '#contract/wire.ts';
import type { ShownRelease } from '#domain/packages/snap-catalog.ts';
import { unexpired } from '#domain/releases/channel-map.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { charmQuestion, traitWord, type Trait } from '#domain/packages/charm-catalog.ts';
import { timestamp } from '#domain/clock.ts';
import type { CharmCatalogQuery } from '#records/packages/catalog.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { Revision } from '#records/revisions/revisions.ts';
import { listByBase } from './bases.ts';
import { selectFields, parseFieldSelection, type CharmFieldSelection } from './field-selection.ts';
import { presentRelease, presentSummary, typeOf } from './served-charm.ts';

/** Maximum number of results. */
const maxResults = 500;

export const findCharms = operation({
  name: 'find_charms',
  method: 'GET',
  path: '/v2/charms/find',
  since: 0,
  summary: 'Search charms and bundles by words of their names, titles and summaries.',
  access: publicCharms,
  query: 'CharmFindQuery',
  response: 'CharmFindResponse',
  headers: ['etag'],
  also: notModified,
  enabledBy: 'devices.charm',
  errors: 'juju',
  prefixed: false,

  async handle({ query, request, charms, records, catalogUpToDate, now }) {
    await catalogUpToDate();
    const selection = parseFieldSelection(query.fields);
    const results: FoundCharm[] = [];
    const sought = soughtBy(query);
    const from = { charms, records, selection, now: timestamp(now()) };
    for (let offset = 0; sought !== undefined && results.length < maxResults; offset += maxResults) {
      const ids = await records.catalog.findCharms(sought, { limit: maxResults, offset });
      for (const id of ids) {
        const result = await resultOf(id, query, from);
        if (result !== undefined && results.length < maxResults) results.push(result);
      }
      if (ids.length < maxResults) break;
    }
    return respondRevalidated(request, JSON.stringify({ results } satisfies CharmFindResponse), 60);
  },
});

/** Translates the query to a catalog search; undefined if it cannot match. */
function soughtBy(query: CharmFindQuery): CharmCatalogQuery | undefined {
  const { q = '', type, publisher, channel, category, platforms } = query;
  const words = charmQuestion(q);
  // A query can consist only of characters that form no word.
  if (q.trim() !== '' && words.length === 0) return undefined;
  const criteria: [Trait, string | undefined][] = [
    ['type', type],
    ['publisher', publisher],
    ['channel', isSaid(channel) ? nameOf(channel) : undefined],
    ['category', category],
    ['requires', query['relation-requires']],
    ['provides', query['relation-provides']],
  ];
  const traits = criteria.flatMap(([trait, value]) => (isSaid(value) ? [traitWord(trait, value)] : []));
  const architectures = isSaid(platforms) ? ['all', ...platforms.split(',').slice(0, maxPlatforms)] : [];
  return {
    words,
    traits,
    places: architectures.map((architecture) => traitWord('platform', architecture)),
    name: q.toLowerCase(),
  };
}

/** More than the number of existing architectures. */
const maxPlatforms = 32;

const isSaid = (member: string | undefined): member is string => member !== undefined && member !== '';

const nameOf = (channel: string): string => parseChannel(channel)?.name ?? channel;

interface CharmSearchContext {
  charms: PublicCharms;
  records: Pick<HandlerRecords, 'releases' | 'revisions'>;
  now: string;
  selection: CharmFieldSelection;
}

/** Presents a result from the current records: the catalog entry combines all channels of the charm. */
async function resultOf(
  id: string,
  query: CharmFindQuery,
  { charms, records, now, selection }: CharmSearchContext,
): Promise<FoundCharm | undefined> {
  const charm = await charms.findById(id);
  const first = charm && (await defaultOf(charm, query, records, now));
  if (charm === undefined || first === undefined || !fits(first.revision, query)) return undefined;
  const more = {
    result: presentSummary(charm, first.revision),
    'default-release': presentRelease(first.shown, first.revision),
  };
  return { type: typeOf(charm), id, name: charm.name, ...selectFields(more, selection) };
}

/** The first release in display order, of the named channel if the query names one. */
async function defaultOf(
  charm: PublishedPackage,
  { channel }: CharmFindQuery,
  { releases, revisions }: CharmSearchContext['records'],
  now: string,
): Promise<{ shown: ShownRelease<Release>; revision: Revision } | undefined> {
  const all = listByBase(unexpired(await releases.held(charm.id), now), charm.defaultTrack);
  const name = isSaid(channel) ? nameOf(channel) : undefined;
  for (const shown of all.filter((entry) => name === undefined || entry.channel.name === name)) {
    const revision = await revisions.forDevices(charm.id, shown.held.revision);
    if (revision !== undefined && revision.status !== 'rejected') return { shown, revision };
  }
  return undefined;
}

/** Whether the revision has this category, one of these architectures and these relations. */
function fits({ details: { bases = [], said: declarations } }: Revision, query: CharmFindQuery): boolean {
  const { category, platforms, 'relation-requires': requires, 'relation-provides': provides } = query;
  const architectures = isSaid(platforms) ? platforms.split(',') : undefined;
  return (
    (architectures === undefined ||
      bases.some(({ architecture }) => architecture === 'all' || architectures.includes(architecture))) &&
    (!isSaid(category) || declarations?.categories?.includes(category) === true) &&
    (!isSaid(requires) || declarations?.requires.includes(requires) === true) &&
    (!isSaid(provides) || declarations?.provides.includes(provides) === true)
  );
}
