import type { HandlerRecords } from '#api/handler-records.ts';
import { operation } from '#api/operation.ts';
import { publicCharms } from '#api/public-charms.ts';
import { notModified, revalidated } from '#api/revalidated.ts';
import type { CharmFindQuery, CharmFindResponse, FoundCharm } from '#api/wire.ts';
import type { Shown } from '#domain/catalog.ts';
import { unexpired } from '#domain/channel-map.ts';
import { parseChannel } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { Revision } from '#records/revisions.ts';
import { listedByBase } from './bases.ts';
import { only, wantedOf } from './members.ts';
import { presentRelease, presentSummary, typeOf } from './served-charm.ts';

export const findCharms = operation({
  name: 'find_charms',
  method: 'GET',
  path: '/v2/charms/find',
  since: 0,
  summary: 'Find charms and bundles by what their names and summaries hold.',
  access: publicCharms,
  query: 'CharmFindQuery',
  response: 'CharmFindResponse',
  headers: ['etag'],
  also: notModified,
  enabledBy: 'devices.charm',
  errors: 'juju',
  prefixed: false,

  async handle({ query, request, charms, records, now }) {
    const { type, publisher } = query;
    const of = { type: isSaid(type) ? type : undefined, publisher: isSaid(publisher) ? publisher : undefined };
    const candidates = await charms.holding(query.q ?? '', of);
    const wanted = wantedOf(query.fields);
    const results: FoundCharm[] = [];
    for (const charm of candidates) {
      const first = await defaultOf(charm, query, records, timestamp(now()));
      if (first === undefined || !fits(first.revision, query)) continue;
      const more = {
        result: presentSummary(charm, first.revision),
        'default-release': presentRelease(first.shown, first.revision),
      };
      results.push({ type: typeOf(charm), id: charm.id, name: charm.name, ...only(more, wanted) });
    }
    return revalidated(request, JSON.stringify({ results } satisfies CharmFindResponse), 60);
  },
});

const isSaid = (member: string | undefined): member is string => member !== undefined && member !== '';

/** What is given to whoever says nothing but the channel. */
async function defaultOf(
  charm: PublishedPackage,
  { channel }: CharmFindQuery,
  { releases, revisions }: Pick<HandlerRecords, 'releases' | 'revisions'>,
  now: string,
): Promise<{ shown: Shown<Release>; revision: Revision } | undefined> {
  const all = listedByBase(unexpired(await releases.held(charm.id), now), charm.defaultTrack);
  const name = isSaid(channel) ? (parseChannel(channel)?.name ?? channel) : undefined;
  for (const shown of all.filter((one) => name === undefined || one.channel.name === name)) {
    const revision = await revisions.forDevices(charm.id, shown.held.revision);
    if (revision !== undefined && revision.status !== 'rejected') return { shown, revision };
  }
  return undefined;
}

/** Whether it is of this category, runs on one of these architectures and has these relations. */
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
