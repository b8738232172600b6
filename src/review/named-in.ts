// Which other packages a text names that its review has found to be right.
import { readYaml, type Yaml } from './yaml.ts';

/** The snaps that a snap.yaml wants installed for what they share (`default-provider` of its plugs of the content interface). */
export function contentProviders(snapYaml: string): string[] {
  const plugs = memberOf(documentOf(snapYaml, 'meta/snap.yaml'), 'plugs');
  const named = (plugs instanceof Map ? [...plugs] : []).flatMap(([name, plug]) => {
    const provider = memberOf(plug, 'default-provider');
    const isContent = (memberOf(plug, 'interface') ?? name) === 'content';
    // Before the colon stands the snap, behind it, in older texts, its slot.
    return isContent && typeof provider === 'string' ? [provider.split(':', 1)[0]!] : [];
  });
  return [...new Set(named)];
}

/** A charm of a store that a bundle deploys. */
export interface NamedCharm {
  name: string;
  /** As the bundle writes it; nothing where it does not say. */
  channel: string | undefined;
  /** The revisions that the bundle keeps to; none where it follows the channel. */
  revisions: number[];
}

/** The charms of a bundle.yaml that come from a store, each by its name and channel. */
export function charmsOfBundle(bundleYaml: string): NamedCharm[] {
  const document = documentOf(bundleYaml, 'bundle.yaml');
  const applications = memberOf(document, 'applications') ?? memberOf(document, 'services');
  const named = new Map<string, NamedCharm>();
  for (const application of applications instanceof Map ? applications.values() : []) {
    const [url, said] = [memberOf(application, 'charm'), memberOf(application, 'channel')];
    const [, name] = typeof url === 'string' ? (/^(?:ch:)?([a-z0-9][a-z0-9-]*)$/.exec(url) ?? []) : [];
    const channel = typeof said === 'string' ? said : undefined;
    if (name === undefined) continue;
    const key = `${name} ${channel ?? ''}`;
    const charm = named.get(key) ?? { name, channel, revisions: [] };
    named.set(key, charm);
    const pinned = memberOf(application, 'revision');
    if (typeof pinned === 'string' && /^\d{1,10}$/.test(pinned)) charm.revisions.push(Number(pinned));
  }
  return [...named.values()];
}

const documentOf = (text: string, file: string): Yaml | undefined => (text === '' ? undefined : readYaml(text, file));

const memberOf = (value: Yaml | undefined, name: string): Yaml | undefined =>
  value instanceof Map ? value.get(name) : undefined;
