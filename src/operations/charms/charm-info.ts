import { operation } from '#http/operation.ts';
import { publicCharms } from '#access/public-charms.ts';
import { notModified, respondRevalidated } from '#http/response/revalidation.ts';
import type { CharmInfoResponse, CharmRelease } from '#contract/wire.ts';
import type { ShownRelease } from '#domain/packages/snap-catalog.ts';
import { unexpired } from '#domain/releases/channel-map.ts';
import { fallback, parseChannel } from '#domain/releases/channel.ts';
import { timestamp } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { Release } from '#records/releases/releases.ts';
import type { RevisionForJuju } from '#records/revisions/revisions.ts';
import { listByBase } from './bases.ts';
import { findRelatedCharms } from './related-charms.ts';
import { selectFields, parseFieldSelection, selectionWithin } from './field-selection.ts';
import { presentRelease, presentSummary, textsOf, typeOf } from './served-charm.ts';

export const charmInfo = operation({
  name: 'charm_info',
  method: 'GET',
  path: '/v2/charms/info/:name',
  since: 0,
  summary: 'Get a charm or a bundle, with the revisions in its channels for each base.',
  access: publicCharms,
  query: 'CharmInfoQuery',
  response: 'CharmInfoResponse',
  headers: ['etag'],
  also: notModified,
  enabledBy: 'devices.charm',
  errors: 'juju',
  prefixed: false,

  async handle({ params, query, request, charms, records, now }) {
    const charm = await charms.findByName(params.name);
    const releases = charm === undefined ? [] : unexpired(await records.releases.held(charm.id), timestamp(now()));
    const shown = listByBase(releases, charm?.defaultTrack ?? null);
    const numbers = [...new Set(shown.map(({ held }) => held.revision))];
    const revisions = charm === undefined ? [] : await records.revisions.listOf(charm.id, numbers);
    const revisionsByNumber = new Map(
      revisions.filter(({ status }) => status !== 'rejected').map((row) => [row.revision, row]),
    );
    const served = shown.filter(({ held }) => revisionsByNumber.has(held.revision));
    const [first] = inChannel(served, query.channel);
    if (charm === undefined || first === undefined) throw notThere(params.name);
    const selection = parseFieldSelection(query.fields);
    const revision = revisionsByNumber.get(first.held.revision)!;
    // Read the texts of the files only if the request selects a member that needs them.
    const isWanted = ['result', 'default-release'].some((member) => selectionWithin(selection, member) !== undefined);
    const texts = isWanted ? await records.revisions.forJuju(charm.id, revision.revision) : undefined;
    const about = { type: typeOf(charm), id: charm.id, name: charm.name };
    const more = {
      result: presentSummary(
        charm,
        revision,
        await findRelatedCharms(charm, texts?.packageYaml ?? '', { selection, charms, records }),
      ),
      'channel-map': served.map((entry) => presentRelease(entry, revisionsByNumber.get(entry.held.revision)!)),
      'default-release': defaultRelease(charm, presentRelease(first, revision), texts),
    };
    const answer: CharmInfoResponse = { ...about, ...selectFields(more, selection) };
    return respondRevalidated(request, JSON.stringify(answer), 60);
  },
});

const notThere = (name: string): Refusal =>
  new Refusal('resource-not-found', `There is no charm or bundle named '${name.slice(0, 64)}'.`);

/** The releases of a channel, or of the next safer channel if it is empty; all releases if no channel is named. */
function inChannel(shown: ShownRelease<Release>[], name: string | undefined): ShownRelease<Release>[] {
  if (name === undefined || name === '') return shown;
  const channel = parseChannel(name);
  if (channel === undefined) throw new Refusal('api-error', `'${name}' is not a channel at /channel`);
  for (let at: string | null = channel.name; at !== null; at = fallback(parseChannel(at)!)) {
    const matches = shown.filter((entry) => entry.channel.name === at);
    if (matches.length > 0) return matches;
  }
  return [];
}

/** The release that a deployment without further options gets, with the texts of its files. */
const defaultRelease = (
  charm: PublishedPackage,
  release: CharmRelease,
  texts: RevisionForJuju | undefined,
): CharmRelease => ({ ...release, revision: { ...release.revision, ...(texts && textsOf(charm, texts)) } });
