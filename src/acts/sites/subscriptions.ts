// Subscriptions: standing requests of this site for packages.
import { mergeSubscriptions, type PackageSubscription } from '#domain/sites/subscription.ts';
import { Refusal } from '#domain/refusal.ts';
import { act, DoneAlready } from '../act.ts';

const never = 'nothing leaves the site before a request is made, and nothing changes before a transfer is accepted';

export const subscribe = act({
  name: 'subscribe',
  summary: 'Subscribe to packages, by channels and architectures; every later request asks for them.',
  on: 'subscriptions',
  object: () => 'subscriptions',
  gate: { never },

  /** Existing subscriptions stay and are extended. */
  async perform(
    tx,
    { subscriptions, because }: { subscriptions: readonly PackageSubscription[]; because: string | null },
    { at, actor, note },
  ): Promise<PackageSubscription[]> {
    const changed: PackageSubscription[] = [];
    for (const added of subscriptions) {
      const before = await tx.subscriptions.find(added.namespace, added.name);
      const after = before === undefined ? added : mergeSubscriptions<PackageSubscription>(before, added);
      if (before !== undefined && sizeOf(after) === sizeOf(before)) continue;
      const { namespace, name, channels, architectures } = after;
      const subscription = { namespace, name, channels, architectures };
      await tx.subscriptions.set({ ...subscription, because, addedAt: at, addedBy: actor });
      changed.push(subscription);
    }
    if (changed.length === 0) throw new DoneAlready<PackageSubscription[]>([]);
    note({
      packages: changed.map(({ namespace, name }) => `${namespace}/${name}`),
      ...(because !== null && { because }),
    });
    return changed;
  },
});

const sizeOf = ({ channels, architectures }: PackageSubscription): number =>
  channels.length * 1000 + architectures.length;

export const unsubscribe = act({
  name: 'unsubscribe',
  summary: 'End a subscription to a package; its stored revisions stay.',
  on: 'subscription/NAMESPACE/NAME',
  object: ({ namespace, name }: Pick<PackageSubscription, 'namespace' | 'name'>) => `subscription/${namespace}/${name}`,
  gate: { never },

  async perform(tx, { namespace, name }: Pick<PackageSubscription, 'namespace' | 'name'>) {
    if ((await tx.subscriptions.remove(namespace, name)) === 0) {
      throw new Refusal(
        'resource-not-found',
        `There is no subscription to ${namespace}/${name}. List them with 'larder subscription list'.`,
      );
    }
  },
});
