// Finds which other packages a text names, after it has passed its review.
import { readYaml, type Yaml } from './yaml.ts';

/** The snaps that provide content to a snap (`default-provider` of its plugs of the content interface). */
export function findContentProviders(snapYaml: string): string[] {
  const plugs = memberOf(documentOf(snapYaml, 'meta/snap.yaml'), 'plugs');
  const providers = (plugs instanceof Map ? [...plugs] : []).flatMap(([name, plug]) => {
    const provider = memberOf(plug, 'default-provider');
    const isContent = (memberOf(plug, 'interface') ?? name) === 'content';
    // The snap is before the colon; older texts have its slot after it.
    return isContent && typeof provider === 'string' ? [provider.split(':', 1)[0]!] : [];
  });
  return [...new Set(providers)];
}

/** A charm from a store that a bundle deploys. */
export interface BundleCharm {
  name: string;
  /** As written in the bundle; undefined if it has none. */
  channel: string | undefined;
  /** The revisions that the bundle pins; empty if it follows the channel. */
  revisions: number[];
}

/** Lists the charms that a bundle deploys from a store, one entry for each name and channel. */
export function listBundleCharms(bundleYaml: string): BundleCharm[] {
  const document = documentOf(bundleYaml, 'bundle.yaml');
  const applications = memberOf(document, 'applications') ?? memberOf(document, 'services');
  const charms = new Map<string, BundleCharm>();
  for (const application of applications instanceof Map ? applications.values() : []) {
    const [url, channelValue] = [memberOf(application, 'charm'), memberOf(application, 'channel')];
    const [, name] = typeof url === 'string' ? (/^(?:ch:)?([a-z0-9][a-z0-9-]*)$/.exec(url) ?? []) : [];
    const channel = typeof channelValue === 'string' ? channelValue : undefined;
    if (name === undefined) continue;
    const key = `${name} ${channel ?? ''}`;
    const charm = charms.get(key) ?? { name, channel, revisions: [] };
    charms.set(key, charm);
    const pinned = memberOf(application, 'revision');
    if (typeof pinned === 'string' && /^\d{1,10}$/.test(pinned)) charm.revisions.push(Number(pinned));
  }
  return [...charms.values()];
}

const documentOf = (text: string, file: string): Yaml | undefined => (text === '' ? undefined : readYaml(text, file));

const memberOf = (value: Yaml | undefined, name: string): Yaml | undefined =>
  value instanceof Map ? value.get(name) : undefined;
