// Subscriptions: the packages that a site wishes for until it ends that, and the sets of them that have a name.
import type { Namespace } from './namespace.ts';

/** The architectures that packages are made for. */
export const architectures = ['amd64', 'arm64', 'armhf', 'i386', 'ppc64el', 'riscv64', 's390x'] as const;
export type Architecture = (typeof architectures)[number];

/** A package that is wished for. */
export interface Wish {
  namespace: Namespace;
  name: string;
  /** Full names. */
  channels: readonly string[];
  architectures: readonly Architecture[];
}

/** The same of a set, for whichever architectures. */
type Listed = Omit<Wish, 'architectures'>;

const snap = (name: string, channel = 'latest/stable'): Listed => ({ namespace: 'snap', name, channels: [channel] });

/** What everything installed from snaps stands on. */
const bases = [snap('snapd'), snap('core20'), snap('core22'), snap('core24')];

/**
 * Sets by name, so that an empty store knows what to ask for. `juju`: what `juju bootstrap` installs on a machine, by the
 * defaults of juju 3.6 (`juju-db-snap-channel`, `lxd-snap-channel`, the charm of the controller). `builders`: the tools by which
 * snaps, charms and rocks are made. `ubuntu-core`: what an image of Ubuntu Core 24 for a PC is made of.
 */
export const subscriptionSets = {
  juju: [
    ...bases,
    snap('juju', '3.6/stable'),
    snap('juju-db', '4.4/stable'),
    snap('lxd', '5.0/stable'),
    { namespace: 'charm', name: 'juju-controller', channels: ['3.6/stable'] },
  ],
  builders: [...bases, snap('snapcraft'), snap('charmcraft'), snap('rockcraft'), snap('lxd', '5.21/stable')],
  'ubuntu-core': [
    snap('snapd'),
    snap('core24'),
    snap('pc', '24/stable'),
    snap('pc-kernel', '24/stable'),
    snap('console-conf', '24/stable'),
  ],
} as const satisfies Record<string, readonly Listed[]>;

export type SubscriptionSet = keyof typeof subscriptionSets;
export const setNames = Object.keys(subscriptionSets) as SubscriptionSet[];

/** The wishes of a set for some architectures. */
export const wishesOfSet = (name: SubscriptionSet, wanted: readonly Architecture[]): Wish[] =>
  subscriptionSets[name].map((one) => ({ ...one, architectures: wanted }));

/** Several wishes for one package, as one: all of their channels and architectures. */
export function together<W extends Wish>(one: W, other: Wish): W {
  const both = <Value>(some: readonly Value[], more: readonly Value[]): Value[] =>
    [...new Set([...some, ...more])].sort();
  return {
    ...one,
    channels: both(one.channels, other.channels),
    architectures: both(one.architectures, other.architectures),
  };
}
