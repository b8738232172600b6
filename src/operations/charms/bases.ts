// Compares and lists the bases that charms run on, in juju's format.
import type { CharmBase } from '#contract/wire.ts';
import { orderPublicReleases, type ShownRelease } from '#domain/packages/snap-catalog.ts';
import type { Release } from '#records/releases/releases.ts';

const all = 'all';

/** The base of a release. A bundle, or a charm without a base, has `all`. */
export const baseOf = ({ architecture, baseName, baseChannel }: Release): Required<CharmBase> => ({
  architecture: architecture ?? all,
  name: baseName ?? all,
  channel: baseChannel ?? all,
});

/** Whether juju asks for the list of bases: then name or channel is empty or `NA`. */
export const asksForBases = ({ name = '', channel = '' }: CharmBase): boolean =>
  [name, channel].some((text) => text === '' || text === 'NA');

/** The bases offered for a charm that runs on all of them, newest first: juju cannot request `all`. */
const ubuntus = ['24.04', '22.04', '20.04'];

/** The bases that releases can be deployed to on an architecture, best first. */
export function listBasesFor(releases: readonly Release[], architecture: string): Required<CharmBase>[] {
  const fitting = releases.map(baseOf).filter((base) => [architecture, all].includes(base.architecture));
  const bases = fitting.flatMap(({ name, channel }) => {
    const channels = channel === all ? ubuntus : [channel];
    return channels.map((channelName) => ({
      architecture,
      name: name === all ? 'ubuntu' : name,
      channel: channelName,
    }));
  });
  const different = new Map(bases.map((base) => [`${base.name}/${base.channel}`, base]));
  return [...different.values()].sort(bestFirst);
}

/** Ubuntu first, because more controllers support it; then the newest of each. */
const bestFirst = (a: Required<CharmBase>, b: Required<CharmBase>): number =>
  Number(b.name === 'ubuntu') - Number(a.name === 'ubuntu') ||
  compareNames(a.name, b.name) ||
  compareNames(b.channel, a.channel) ||
  compareNames(a.architecture, b.architecture);

/** A shared collator: comparing two texts without it takes several times as long. Made at its first use: it loads 2.4 MB of rules. */
const compareNames = (a: string, b: string): number =>
  (inOrder ??= new Intl.Collator('en', { numeric: true })).compare(a, b);
let inOrder: Intl.Collator | undefined;

/** The channels of a charm in display order; within a channel the best base comes first. */
export const listByBase = (releases: readonly Release[], defaultTrack: string | null): ShownRelease<Release>[] =>
  [...Map.groupBy(orderPublicReleases(releases, defaultTrack), ({ channel }) => channel.name).values()].flatMap(
    (ofOne) => ofOne.sort((a, b) => bestFirst(baseOf(a.held), baseOf(b.held))),
  );
