// Converts the contents of a bundle or a model to subscriptions.
import { parseStream, type Assertion } from '#assertions/assertion.ts';
import { parseChannel } from '#domain/channel.ts';
import { Refusal } from '#domain/refusal.ts';
import { architectures, type Architecture, type Wish } from '#domain/subscription.ts';
import { charmsOfBundle } from '#review/named-in.ts';
import { Unacceptable } from '#review/unacceptable.ts';

const isName = (text: string): boolean => /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(text);

/** Returns the store charms of a bundle's YAML, with the channels named there. */
export function wishesOfBundle(text: string, wanted: readonly Architecture[]): Wish[] {
  let charms: ReturnType<typeof charmsOfBundle>;
  try {
    charms = charmsOfBundle(text);
  } catch (error) {
    if (!(error instanceof Unacceptable)) throw error;
    throw new Refusal('api-error', `That is no bundle: ${error.message}`);
  }
  if (charms.length === 0) throw new Refusal('api-error', 'That is no bundle: it names no charm of a store.');
  return charms.map(({ name, channel }) => ({
    namespace: 'charm',
    name,
    channels: [parseChannel(channel ?? 'stable')?.name ?? 'latest/stable'],
    architectures: wanted,
  }));
}

/** Returns the snaps of a model: those in its assertion, its base, and snapd. */
export function wishesOfModel(text: string): { model: string; wishes: Wish[] } {
  const model = modelIn(text);
  const { headers } = model;
  const [brand, name, architecture] = [headers['brand-id'], headers['model'], headers['architecture']];
  if (typeof brand !== 'string' || typeof name !== 'string' || !isArchitecture(architecture)) {
    throw new Refusal('api-error', 'The model names no architecture that packages are made for.');
  }
  const wish = (said: unknown, channel?: unknown): Wish[] => {
    // Models before Ubuntu Core 20 append the track to the name.
    const [called = '', track] = typeof said === 'string' ? said.split('=', 2) : [];
    if (!isName(called)) return [];
    const named = parseChannel(typeof channel === 'string' ? channel : `${track ?? 'latest'}/stable`)?.name;
    return [{ namespace: 'snap', name: called, channels: [named ?? 'latest/stable'], architectures: [architecture] }];
  };
  const listed = (said: unknown): unknown[] => (Array.isArray(said) ? said : []);
  const snaps = listed(headers['snaps']).map((one) => one as Record<string, unknown>);
  // A classic system has no base snap here. A model without a base uses core.
  const base =
    typeof headers['base'] === 'string' ? headers['base'] : headers['classic'] === 'true' ? undefined : 'core';
  const named = new Set(snaps.map((one) => one['name']));
  return {
    model: `${brand}/${name}`,
    wishes: [
      ...wish('snapd').filter(() => !named.has('snapd')),
      ...wish(base).filter(() => !named.has(base)),
      ...wish(headers['gadget']),
      ...wish(headers['kernel']),
      ...listed(headers['required-snaps']).flatMap((one) => wish(one)),
      ...snaps.flatMap((one) => wish(one['name'], one['default-channel'])),
    ],
  };
}

function modelIn(text: string): Assertion {
  const found = parseStream(text).find(({ type }) => type === 'model');
  if (found === undefined) throw new Refusal('api-error', 'There is no model assertion in it.');
  return found;
}

const isArchitecture = (said: unknown): said is Architecture => (architectures as readonly unknown[]).includes(said);
