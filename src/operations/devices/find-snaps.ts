// Where people look for snaps from a device. What is private is found by nobody.
import { snapsForDevice, type SnapsForDevice } from '#api/device-snaps.ts';
import type { HandlerRecords } from '#api/handler-records.ts';
import { operation } from '#api/operation.ts';
import { notModified, ofArchitecture, revalidated } from '#api/revalidated.ts';
import { json } from '#api/sent.ts';
import type { FindSnapsQuery, FindSnapsResponse } from '#api/wire.ts';
import {
  beginningWith,
  commonIdWord,
  confinements as everyConfinement,
  exactly,
  nameWord,
  placesAt,
  shownIn,
  toldOf,
  wordsOf,
  type Beginning,
  type Level,
} from '#domain/catalog.ts';
import { parseChannel, type Channel } from '#domain/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import { askerOf } from './choosing.ts';
import { everyField, presentSnap, presentSnapRevision } from './served-snap.ts';

/** So many are shown, and a person reads no more. */
const most = 100;
/** So many words of a question are heeded, the longest. */
const mostWords = 5;
/** The only category there is: everything, which is what a person sees who asks for nothing. */
export const everything = 'featured';

export const findSnaps = operation({
  name: 'find_snaps',
  method: 'GET',
  path: '/v2/snaps/find',
  since: 0,
  summary: 'Find public snaps by words, by the beginning of their names, or by what their apps are known as elsewhere.',
  access: snapsForDevice,
  query: 'FindSnapsQuery',
  response: 'FindSnapsResponse',
  headers: ['etag', 'vary'],
  also: notModified,
  enabledBy: 'devices.snap',
  errors: 'snapd',
  prefixed: false,

  async handle({ query, request, address, device, snaps, records, catalogUpToDate, config, now }) {
    const { architecture } = askerOf(request.headers, device, address, now());
    const wanted = wantedOf(query, query.architecture ?? architecture);
    await catalogUpToDate();
    const ids = wanted === undefined ? [] : await records.catalog.find(wanted.sought, most);
    const fields = query.fields?.split(',') ?? everyField;
    const { base_url: baseUrl } = config.http;
    const from = { snaps, records, fields, baseUrl };
    const found = await Promise.all(ids.map((id) => resultOf(id, wanted!, from)));
    const answer: FindSnapsResponse = { results: found.filter((one) => one !== undefined) };
    return revalidated(request, JSON.stringify(answer), 60, { ...json, vary: ofArchitecture });
  },
});

type Result = FindSnapsResponse['results'][number];

interface Wanted {
  sought: Parameters<HandlerRecords['catalog']['find']>[0];
  at: Channel | Level;
  architecture: string;
  confinements: readonly string[];
}

/** Nothing where nothing can be found. */
function wantedOf(query: FindSnapsQuery, architecture: string): Wanted | undefined {
  const { q = '', name = '', category = '', private: own = 'false' } = query;
  const words = [
    ...(q === '' ? [] : questionOf(q)),
    ...(name === '' ? [] : [beginningWith(nameWord(name))]),
    ...(query['common-id'] === undefined ? [] : [exactly(commonIdWord(query['common-id']))]),
  ];
  // Nobody logs in to this store from a device, so nobody has private snaps here; and words may all be of other characters.
  if (own === 'true' || (category !== '' && category !== everything) || (q !== '' && words.length === 0))
    return undefined;
  const at = levelOf(query.channel ?? '');
  const confinements = query.confinement?.split(',') ?? everyConfinement;
  const level = typeof at === 'string' ? at : 'any';
  const places = placesAt(architecture, level, confinements.slice(0, 3));
  return { sought: { words, places, name: q.toLowerCase() }, at, architecture, confinements };
}

/** The last word of a question may be unfinished, and so may the others. */
const questionOf = (q: string): Beginning[] =>
  [...new Set(wordsOf(q))]
    .sort((a, b) => b.length - a.length)
    .slice(0, mostWords - 2)
    .map(beginningWith);

/** Without a channel, wherever there is something. */
function levelOf(text: string): Channel | Level {
  if (text === '') return 'any';
  const channel = parseChannel(text);
  if (channel === undefined) throw new Refusal('api-error', `'${text}' is not a channel.`);
  return channel.branch === null && !text.startsWith(channel.track) ? channel.risk : channel;
}

interface From {
  snaps: SnapsForDevice;
  records: HandlerRecords;
  fields: readonly string[];
  baseUrl: string;
}

/** As the records have it now: of what was said in the catalog nothing is given on. */
async function resultOf(
  id: string,
  { at: where, architecture, confinements }: Wanted,
  { snaps, records, fields, baseUrl }: From,
): Promise<Result | undefined> {
  const snap = await snaps.ofId(id);
  if (snap === undefined || snap.private) return undefined;
  const map = toldOf(await records.releases.held(id));
  const shown = shownIn(map, where, architecture, snap.defaultTrack);
  const revision = shown && (await records.revisions.forDevices(id, shown.held.revision));
  if (revision === undefined || !confinements.includes(revision.details.confinement ?? 'strict')) return undefined;
  const { download, ...said } = presentSnapRevision(revision, fields, baseUrl);
  const { track, risk, name } = shown!.channel;
  return {
    name: snap.name,
    'snap-id': id,
    snap: presentSnap(snap, fields, baseUrl),
    revision: {
      ...said,
      // Whoever is only looking needs no address.
      ...(download && { download: { size: download.size } }),
      channel: track === 'latest' ? risk : name,
    },
  };
}
