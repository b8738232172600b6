// What charms run on, as juju names it.
import type { CharmBase } from '#api/wire.ts';
import { listed, type Shown } from '#domain/catalog.ts';
import type { Release } from '#records/releases.ts';

const all = 'all';

/** The base of what a channel holds; a bundle, and a charm that names none, is there for all of them. */
export const baseOf = ({ architecture, baseName, baseChannel }: Release): Required<CharmBase> => ({
  architecture: architecture ?? all,
  name: baseName ?? all,
  channel: baseChannel ?? all,
});

/** Whether juju asks which bases there are: it says so with these words in place of one. */
export const isOpen = ({ name = '', channel = '' }: CharmBase): boolean =>
  [name, channel].some((said) => said === '' || said === 'NA');

/** What juju is offered where a charm runs everywhere: it cannot ask for `all`. The newest first. */
const ubuntus = ['24.04', '22.04', '20.04'];

/** The bases that releases can be deployed to on an architecture, the best first. */
export function basesFor(releases: readonly Release[], architecture: string): Required<CharmBase>[] {
  const fitting = releases.map(baseOf).filter((base) => [architecture, all].includes(base.architecture));
  const named = fitting.flatMap(({ name, channel }) => {
    const channels = channel === all ? ubuntus : [channel];
    return channels.map((one) => ({ architecture, name: name === all ? 'ubuntu' : name, channel: one }));
  });
  const different = new Map(named.map((base) => [`${base.name}/${base.channel}`, base]));
  return [...different.values()].sort(bestFirst);
}

/** Ubuntu before others, which fewer controllers know, and the newest of each. */
const bestFirst = (a: Required<CharmBase>, b: Required<CharmBase>): number =>
  Number(b.name === 'ubuntu') - Number(a.name === 'ubuntu') ||
  inOrder.compare(a.name, b.name) ||
  inOrder.compare(b.channel, a.channel) ||
  inOrder.compare(a.architecture, b.architecture);

/** Made once: to compare two texts without it takes several times as long. */
const inOrder = new Intl.Collator('en', { numeric: true });

/** What people are shown of the channels of a charm, in their order; in each of them the best base comes first. */
export const listedByBase = (releases: readonly Release[], defaultTrack: string | null): Shown<Release>[] =>
  [...Map.groupBy(listed(releases, defaultTrack), ({ channel }) => channel.name).values()].flatMap((ofOne) =>
    ofOne.sort((a, b) => bestFirst(baseOf(a.held), baseOf(b.held))),
  );
