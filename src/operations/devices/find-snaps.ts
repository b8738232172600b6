// Searches snaps for a device. Private snaps are never found.
import { snapsForDevice, type SnapsForDevice } from '#access/device-snaps.ts';
import type { HandlerRecords } from '#http/handler-records.ts';
import { operation } from '#http/operation.ts';
import { notModified, varyByArchitecture, respondRevalidated } from '#http/response/revalidation.ts';
import { json } from '#http/response/outgoing-response.ts';
import type { FindSnapsQuery, FindSnapsResponse } from '#contract/wire.ts';
import {
  beginningWith,
  commonIdWord,
  confinements as everyConfinement,
  exactly,
  nameWord,
  placesAt,
  chooseShownRelease,
  publicReleases,
  wordsOf,
  type WordRange,
  type SearchLevel,
} from '#domain/packages/snap-catalog.ts';
import { parseChannel, type Channel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import { channelsFor, readDeviceContext } from './choose-revision.ts';
import { everyField, presentSnap, presentSnapRevision } from './served-snap.ts';

/** Maximum number of results. */
const maxResults = 100;
/** Maximum number of search words; the longest take precedence. */
const maxWords = 5;
/** The only category: all snaps. An empty search shows it. */
export const featuredCategory = 'featured';

export const findSnaps = operation({
  name: 'find_snaps',
  method: 'GET',
  path: '/v2/snaps/find',
  since: 0,
  summary: 'Search public snaps by words, by the beginning of their names, or by the common ids of their apps.',
  access: snapsForDevice,
  query: 'FindSnapsQuery',
  response: 'FindSnapsResponse',
  headers: ['etag', 'vary'],
  also: notModified,
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,

  async handle({ query, request, address, device, snaps, records, catalogUpToDate, config, now }) {
    const { architecture } = readDeviceContext(request.headers, device, address, now());
    const search = wantedOf(query, query.architecture ?? architecture);
    await catalogUpToDate();
    const ids = search === undefined ? [] : await records.catalog.find(search.sought, maxResults);
    const fields = query.fields?.split(',') ?? everyField;
    const { base_url: baseUrl } = config.http;
    const from = { snaps, records, fields, baseUrl };
    const results = await Promise.all(ids.map((id) => resultOf(id, search!, from)));
    const answer: FindSnapsResponse = { results: results.filter((result) => result !== undefined) };
    return respondRevalidated(request, JSON.stringify(answer), 60, { ...json, vary: varyByArchitecture });
  },
});

type SnapSearchResult = FindSnapsResponse['results'][number];

interface SnapSearch {
  sought: Parameters<HandlerRecords['catalog']['find']>[0];
  at: Channel | SearchLevel;
  architecture: string;
  confinements: readonly string[];
}

/** Translates the query to a catalog search; undefined if it cannot match. */
function wantedOf(query: FindSnapsQuery, architecture: string): SnapSearch | undefined {
  const { q = '', name = '', category = '', private: own = 'false' } = query;
  const words = [
    ...(q === '' ? [] : questionOf(q)),
    ...(name === '' ? [] : [beginningWith(nameWord(name))]),
    ...(query['common-id'] === undefined ? [] : [exactly(commonIdWord(query['common-id']))]),
  ];
  // Devices do not log in as an account, so they have no private snaps. A query can also consist of characters that form no word.
  if (own === 'true' || (category !== '' && category !== featuredCategory) || (q !== '' && words.length === 0))
    return undefined;
  const at = levelOf(query.channel ?? '');
  const confinements = query.confinement?.split(',') ?? everyConfinement;
  const level = typeof at === 'string' ? at : 'any';
  const places = placesAt(architecture, level, confinements.slice(0, 3));
  return { sought: { words, places, name: q.toLowerCase() }, at, architecture, confinements };
}

/** The words of a query as prefixes: the last word, or any other, can be unfinished. */
const questionOf = (q: string): WordRange[] =>
  [...new Set(wordsOf(q))]
    .sort((a, b) => b.length - a.length)
    .slice(0, maxWords - 2)
    .map(beginningWith);

/** The channel or risk to search; `any` if the device names none. */
function levelOf(text: string): Channel | SearchLevel {
  if (text === '') return 'any';
  const channel = parseChannel(text);
  if (channel === undefined) throw new Refusal('api-error', `'${text}' is not a channel.`);
  return channel.branch === null && !text.startsWith(channel.track) ? channel.risk : channel;
}

interface SnapSearchContext {
  snaps: SnapsForDevice;
  records: HandlerRecords;
  fields: readonly string[];
  baseUrl: string;
}

/** Presents a result from the current records; the catalog supplies only the id. */
async function resultOf(
  id: string,
  { at: where, architecture, confinements }: SnapSearch,
  { snaps, records, fields, baseUrl }: SnapSearchContext,
): Promise<SnapSearchResult | undefined> {
  const visibleSnap = await snaps.findById(id);
  if (visibleSnap === undefined || visibleSnap.snap.private) return undefined;
  const { snap } = visibleSnap;
  const map = publicReleases(channelsFor(visibleSnap, await records.releases.held(id), { architecture }));
  const shown = chooseShownRelease(map, where, architecture, snap.defaultTrack);
  const revision = shown && (await records.revisions.forDevices(id, shown.held.revision));
  if (revision === undefined || !confinements.includes(revision.details.confinement ?? 'strict')) return undefined;
  const { download, ...members } = presentSnapRevision(revision, fields, baseUrl);
  const { track, risk, name } = shown!.channel;
  return {
    name: snap.name,
    'snap-id': id,
    snap: presentSnap(snap, fields, baseUrl),
    revision: {
      ...members,
      // A search result needs no download URL.
      ...(download && { download: { size: download.size } }),
      channel: track === 'latest' ? risk : name,
    },
  };
}
