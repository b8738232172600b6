import { operation } from '#api/operation.ts';
import { publicCharms } from '#api/public-charms.ts';
import { notModified, revalidated } from '#api/revalidated.ts';
import type { CharmInfoResponse, CharmRelease } from '#api/wire.ts';
import type { Shown } from '#domain/catalog.ts';
import { unexpired } from '#domain/channel-map.ts';
import { fallback, parseChannel } from '#domain/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages.ts';
import type { Release } from '#records/releases.ts';
import type { RevisionForJuju } from '#records/revisions.ts';
import { listedByBase } from './bases.ts';
import { kinOf } from './kin.ts';
import { only, wantedOf, within } from './members.ts';
import { presentRelease, presentSummary, textsOf, typeOf } from './served-charm.ts';

export const charmInfo = operation({
  name: 'charm_info',
  method: 'GET',
  path: '/v2/charms/info/:name',
  since: 0,
  summary: 'Say what a charm or a bundle is, and what its channels hold for each base.',
  access: publicCharms,
  query: 'CharmInfoQuery',
  response: 'CharmInfoResponse',
  headers: ['etag'],
  also: notModified,
  enabledBy: 'devices.charm',
  errors: 'juju',
  prefixed: false,

  async handle({ params, query, request, charms, records, now }) {
    const charm = await charms.named(params.name);
    const releases = charm === undefined ? [] : unexpired(await records.releases.held(charm.id), timestamp(now()));
    const shown = listedByBase(releases, charm?.defaultTrack ?? null);
    const numbers = [...new Set(shown.map(({ held }) => held.revision))];
    const found = charm === undefined ? [] : await records.revisions.listOf(charm.id, numbers);
    const given = new Map(found.filter(({ status }) => status !== 'rejected').map((one) => [one.revision, one]));
    const told = shown.filter(({ held }) => given.has(held.revision));
    const [first] = inChannel(told, query.channel);
    if (charm === undefined || first === undefined) throw notThere(params.name);
    const wanted = wantedOf(query.fields);
    const revision = given.get(first.held.revision)!;
    // Read the texts of the files only if the request selects a member that needs them.
    const isWanted = ['result', 'default-release'].some((member) => within(wanted, member) !== undefined);
    const texts = isWanted ? await records.revisions.forJuju(charm.id, revision.revision) : undefined;
    const about = { type: typeOf(charm), id: charm.id, name: charm.name };
    const more = {
      result: presentSummary(
        charm,
        revision,
        await kinOf(charm, texts?.packageYaml ?? '', { wanted, charms, records }),
      ),
      'channel-map': told.map((one) => presentRelease(one, given.get(one.held.revision)!)),
      'default-release': defaultRelease(charm, presentRelease(first, revision), texts),
    };
    const answer: CharmInfoResponse = { ...about, ...only(more, wanted) };
    return revalidated(request, JSON.stringify(answer), 60);
  },
});

const notThere = (name: string): Refusal =>
  new Refusal('resource-not-found', `There is no charm or bundle named '${name.slice(0, 64)}'.`);

/** The releases of a channel, or of the next safer channel if it is empty; all releases if no channel is named. */
function inChannel(shown: Shown<Release>[], name: string | undefined): Shown<Release>[] {
  if (name === undefined || name === '') return shown;
  const channel = parseChannel(name);
  if (channel === undefined) throw new Refusal('api-error', `'${name}' is not a channel at /channel`);
  for (let at: string | null = channel.name; at !== null; at = fallback(parseChannel(at)!)) {
    const here = shown.filter((one) => one.channel.name === at);
    if (here.length > 0) return here;
  }
  return [];
}

/** The release that a deployment without further options gets, with the texts of its files. */
const defaultRelease = (
  charm: PublishedPackage,
  release: CharmRelease,
  texts: RevisionForJuju | undefined,
): CharmRelease => ({ ...release, revision: { ...release.revision, ...(texts && textsOf(charm, texts)) } });
