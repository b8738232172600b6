// Subscriptions: standing requests of a site for packages, and named sets of them.
import { isNamespace, type PackageNamespace } from '../packages/namespace.ts';

/** The architectures that packages are made for. */
export const architectures = ['amd64', 'arm64', 'armhf', 'i386', 'ppc64el', 'riscv64', 's390x'] as const;
export type Architecture = (typeof architectures)[number];

/** A subscription to one package. */
export interface PackageSubscription {
  namespace: PackageNamespace;
  name: string;
  /** Full names. */
  channels: readonly string[];
  architectures: readonly Architecture[];
}

/** An entry of a set, for any architecture. */
type SubscriptionSetEntry = Omit<PackageSubscription, 'architectures'>;

const snap = (name: string, channel = 'latest/stable'): SubscriptionSetEntry => ({
  namespace: 'snap',
  name,
  channels: [channel],
});

/** The snaps that all other snaps need. */
const bases = [snap('snapd'), snap('core20'), snap('core22'), snap('core24')];

/**
 * Named sets, so that an empty store knows which packages to request. `juju`: the packages that `juju bootstrap`
 * installs on a machine with the defaults of juju 3.6 (`juju-db-snap-channel`, `lxd-snap-channel`, the charm of the
 * controller). `builders`: the tools that build snaps, charms and rocks. `ubuntu-core`: the snaps of an Ubuntu Core 24
 * image for a PC.
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
} as const satisfies Record<string, readonly SubscriptionSetEntry[]>;

export type SubscriptionSet = keyof typeof subscriptionSets;
export const setNames = Object.keys(subscriptionSets) as SubscriptionSet[];

/** The subscriptions of a set for the given architectures. */
export const subscriptionsOfSet = (
  name: SubscriptionSet,
  forArchitectures: readonly Architecture[],
): PackageSubscription[] => subscriptionSets[name].map((entry) => ({ ...entry, architectures: forArchitectures }));

/** Merges two subscriptions to one package: all channels and architectures of both. */
export function mergeSubscriptions<W extends PackageSubscription>(subscription: W, other: PackageSubscription): W {
  const union = <Value>(some: readonly Value[], more: readonly Value[]): Value[] =>
    [...new Set([...some, ...more])].sort();
  return {
    ...subscription,
    channels: union(subscription.channels, other.channels),
    architectures: union(subscription.architectures, other.architectures),
  };
}

/** Parses `snap/hello`; undefined if it has another format. */
export function parseSubscribedPackage(text: string): Pick<PackageSubscription, 'namespace' | 'name'> | undefined {
  const [namespace = '', name = '', more] = text.split('/');
  const isName = /^[a-z0-9](?:[a-z0-9.+-]{0,126}[a-z0-9])?$/.test(name);
  return isNamespace(namespace) && isName && more === undefined ? { namespace, name } : undefined;
}
