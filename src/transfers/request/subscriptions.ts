// Converts the contents of a bundle or a model to subscriptions.
import { parseStream, type Assertion } from '#assertions/format/assertion.ts';
import { parseChannel } from '#domain/releases/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import { architectures, type Architecture, type PackageSubscription } from '#domain/sites/subscription.ts';
import { listBundleCharms } from '#review/named-packages.ts';
import { Unacceptable } from '#review/unacceptable.ts';

const isName = (text: string): boolean => /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(text);

/** Returns the store charms of a bundle's YAML, with the channels named there. */
export function subscriptionsOfBundle(
  text: string,
  targetArchitectures: readonly Architecture[],
): PackageSubscription[] {
  let charms: ReturnType<typeof listBundleCharms>;
  try {
    charms = listBundleCharms(text);
  } catch (error) {
    if (!(error instanceof Unacceptable)) throw error;
    throw new Refusal('api-error', `This is not a bundle: ${error.message}`);
  }
  if (charms.length === 0) throw new Refusal('api-error', 'This is not a bundle: it names no charm of a store.');
  return charms.map(({ name, channel }) => ({
    namespace: 'charm',
    name,
    channels: [parseChannel(channel ?? 'stable')?.name ?? 'latest/stable'],
    architectures: targetArchitectures,
  }));
}

/** Returns the snaps of a model: those in its assertion, its base, and snapd. */
export function subscriptionsOfModel(text: string): { model: string; subscriptions: PackageSubscription[] } {
  const model = modelIn(text);
  const { headers } = model;
  const [brand, name, architecture] = [headers['brand-id'], headers['model'], headers['architecture']];
  if (typeof brand !== 'string' || typeof name !== 'string' || !isArchitecture(architecture)) {
    throw new Refusal('api-error', 'The model does not name an architecture of packages.');
  }
  const toSubscriptions = (value: unknown, channel?: unknown): PackageSubscription[] => {
    // Models before Ubuntu Core 20 append the track to the name.
    const [called = '', track] = typeof value === 'string' ? value.split('=', 2) : [];
    if (!isName(called)) return [];
    const channelName = parseChannel(typeof channel === 'string' ? channel : `${track ?? 'latest'}/stable`)?.name;
    return [
      { namespace: 'snap', name: called, channels: [channelName ?? 'latest/stable'], architectures: [architecture] },
    ];
  };
  const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const snaps = listed(headers['snaps']).map((snap) => snap as Record<string, unknown>);
  // A classic system has no base snap here. A model without a base uses core.
  const base =
    typeof headers['base'] === 'string' ? headers['base'] : headers['classic'] === 'true' ? undefined : 'core';
  const snapNames = new Set(snaps.map((snap) => snap['name']));
  return {
    model: `${brand}/${name}`,
    subscriptions: [
      ...toSubscriptions('snapd').filter(() => !snapNames.has('snapd')),
      ...toSubscriptions(base).filter(() => !snapNames.has(base)),
      ...toSubscriptions(headers['gadget']),
      ...toSubscriptions(headers['kernel']),
      ...listed(headers['required-snaps']).flatMap((required) => toSubscriptions(required)),
      ...snaps.flatMap((snap) => toSubscriptions(snap['name'], snap['default-channel'])),
    ],
  };
}

function modelIn(text: string): Assertion {
  const model = parseStream(text).find(({ type }) => type === 'model');
  if (model === undefined) throw new Refusal('api-error', 'There is no model assertion in it.');
  return model;
}

const isArchitecture = (value: unknown): value is Architecture => (architectures as readonly unknown[]).includes(value);
