// Subscriptions: standing requests of this site for packages, channels and architectures.
import type { PackageNamespace } from '#domain/packages/namespace.ts';
import type { PackageSubscription } from '#domain/sites/subscription.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

export interface Subscription extends PackageSubscription {
  /** The set, model or bundle that added it; null if a person did. */
  because: string | null;
  /** RFC 3339. */
  addedAt: string;
  /** The account that added it, in the form of the audit log. */
  addedBy: string;
}

type SubscriptionRow = Omit<Subscription, 'channels' | 'architectures'> & { channels: string; architectures: string };

const asSubscription = (row: SubscriptionRow): Subscription => ({
  ...row,
  channels: JSON.parse(row.channels) as Subscription['channels'],
  architectures: JSON.parse(row.architectures) as Subscription['architectures'],
});

const subscriptionColumns = columns`
  namespace, name, channels, architectures, because, added_at AS "addedAt", added_by AS "addedBy"`;

export const subscriptions = (db: Pick<Queries, 'get' | 'all'>) => ({
  async find(namespace: PackageNamespace, name: string): Promise<Subscription | undefined> {
    const row = await db.get<SubscriptionRow>(sql`
      SELECT ${subscriptionColumns} FROM subscriptions WHERE namespace = ${namespace} AND name = ${name}`);
    return row && asSubscription(row);
  },

  /** Lists subscriptions by namespace and name, beginning after the given namespace and name. */
  after: async (namespace: string, name: string, limit: number): Promise<Subscription[]> =>
    (
      await db.all<SubscriptionRow>(sql`
        SELECT ${subscriptionColumns} FROM subscriptions WHERE (namespace, name) > (${namespace}, ${name})
        ORDER BY namespace, name LIMIT ${limit}`)
    ).map(asSubscription),
});

export const subscriptionChanges = (db: Queries) => ({
  ...subscriptions(db),

  set: (s: Subscription) =>
    db.run(sql`
      INSERT INTO subscriptions (namespace, name, channels, architectures, because, added_at, added_by)
      VALUES (${s.namespace}, ${s.name}, ${JSON.stringify(s.channels)}, ${JSON.stringify(s.architectures)}, ${s.because},
        ${s.addedAt}, ${s.addedBy})
      ON CONFLICT (namespace, name) DO UPDATE
      SET channels = excluded.channels, architectures = excluded.architectures, because = excluded.because,
        added_at = excluded.added_at, added_by = excluded.added_by`),

  remove: (namespace: PackageNamespace, name: string) =>
    db.run(sql`DELETE FROM subscriptions WHERE namespace = ${namespace} AND name = ${name}`),
});
