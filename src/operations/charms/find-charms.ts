import type { HandlerRecords } from '#api/handler-records.ts';
import { operation } from '#api/operation.ts';
import { publicCharms, type PublicCharms } from '#api/public-charms.ts';
import { notModified, revalidated } from '#api/revalidated.ts';
import type { CharmFindQuery, CharmFindResponse, FoundCharm } from '#api/wire.ts';
import type { Shown } from '#domain/catalog.ts';
import { unexpired } from '#domain/channel-map.ts';
import { parseChannel } from '#domain/channel.ts';
import { charmQuestion, traitWord, type Trait } from '#domain/charm-catalog.ts';
import { timestamp } from '#domain/clock.ts';
import type { SoughtCharms } from '#records/catalog.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { Revision } from '#records/revisions.ts';
import { listedByBase } from './bases.ts';
import { only, wantedOf, type Wanted } from './members.ts';
import { presentRelease, presentSummary, typeOf } from './served-charm.ts';

/** Maximum number of results. */
const most = 500;

export const findCharms = operation({
  name: 'find_charms',
  method: 'GET',
  path: '/v2/charms/find',
  since: 0,
  summary: 'Find charms and bundles by words of their names, titles and summaries.',
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
    const wanted = wantedOf(query.fields);
    const results: FoundCharm[] = [];
    const sought = soughtBy(query);
    const from = { charms, records, wanted, now: timestamp(now()) };
    for (let offset = 0; sought !== undefined && results.length < most; offset += most) {
      const ids = await records.catalog.findCharms(sought, { limit: most, offset });
      for (const id of ids) {
        const result = await resultOf(id, query, from);
        if (result !== undefined && results.length < most) results.push(result);
      }
      if (ids.length < most) break;
    }
    return revalidated(request, JSON.stringify({ results } satisfies CharmFindResponse), 60);
  },
});

/** Translates the query to a catalog search; undefined if it cannot match. */
function soughtBy(query: CharmFindQuery): SoughtCharms | undefined {
  const { q = '', type, publisher, channel, category, platforms } = query;
  const words = charmQuestion(q);
  // A query can consist only of characters that form no word.
  if (q.trim() !== '' && words.length === 0) return undefined;
  const said: [Trait, string | undefined][] = [
    ['type', type],
    ['publisher', publisher],
    ['channel', isSaid(channel) ? nameOf(channel) : undefined],
    ['category', category],
    ['requires', query['relation-requires']],
    ['provides', query['relation-provides']],
  ];
  const traits = said.flatMap(([trait, value]) => (isSaid(value) ? [traitWord(trait, value)] : []));
  const architectures = isSaid(platforms) ? ['all', ...platforms.split(',').slice(0, mostPlatforms)] : [];
  return { words, traits, places: architectures.map((one) => traitWord('platform', one)), name: q.toLowerCase() };
}

/** More than the number of existing architectures. */
const mostPlatforms = 32;

const isSaid = (member: string | undefined): member is string => member !== undefined && member !== '';

const nameOf = (channel: string): string => parseChannel(channel)?.name ?? channel;

interface From {
  charms: PublicCharms;
  records: Pick<HandlerRecords, 'releases' | 'revisions'>;
  now: string;
  wanted: Wanted;
}

/** Presents a result from the current records: the catalog entry combines all channels of the charm. */
async function resultOf(
  id: string,
  query: CharmFindQuery,
  { charms, records, now, wanted }: From,
): Promise<FoundCharm | undefined> {
  const charm = await charms.ofId(id);
  const first = charm && (await defaultOf(charm, query, records, now));
  if (charm === undefined || first === undefined || !fits(first.revision, query)) return undefined;
  const more = {
    result: presentSummary(charm, first.revision),
    'default-release': presentRelease(first.shown, first.revision),
  };
  return { type: typeOf(charm), id, name: charm.name, ...only(more, wanted) };
}

/** The first release in display order, of the named channel if the query names one. */
async function defaultOf(
  charm: PublishedPackage,
  { channel }: CharmFindQuery,
  { releases, revisions }: From['records'],
  now: string,
): Promise<{ shown: Shown<Release>; revision: Revision } | undefined> {
  const all = listedByBase(unexpired(await releases.held(charm.id), now), charm.defaultTrack);
  const name = isSaid(channel) ? nameOf(channel) : undefined;
  for (const shown of all.filter((one) => name === undefined || one.channel.name === name)) {
    const revision = await revisions.forDevices(charm.id, shown.held.revision);
    if (revision !== undefined && revision.status !== 'rejected') return { shown, revision };
  }
  return undefined;
}

/** Whether the revision has this category, one of these architectures and these relations. */
function fits({ details: { bases = [], said } }: Revision, query: CharmFindQuery): boolean {
  const { category, platforms, 'relation-requires': requires, 'relation-provides': provides } = query;
  const architectures = isSaid(platforms) ? platforms.split(',') : undefined;
  return (
    (architectures === undefined ||
      bases.some(({ architecture }) => architecture === 'all' || architectures.includes(architecture))) &&
    (!isSaid(category) || said?.categories?.includes(category) === true) &&
    (!isSaid(requires) || said?.requires.includes(requires) === true) &&
    (!isSaid(provides) || said?.provides.includes(provides) === true)
  );
}
