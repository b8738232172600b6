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

/** The charms of a bundle.yaml that come from a store, each by its name. */
export function charmsOfBundle(bundleYaml: string): string[] {
  const document = documentOf(bundleYaml, 'bundle.yaml');
  const applications = memberOf(document, 'applications') ?? memberOf(document, 'services');
  const named = (applications instanceof Map ? [...applications.values()] : []).flatMap((application) => {
    const charm = memberOf(application, 'charm');
    const [, name] = typeof charm === 'string' ? (/^(?:ch:)?([a-z0-9][a-z0-9-]*)$/.exec(charm) ?? []) : [];
    return name ?? [];
  });
  return [...new Set(named)];
}

const documentOf = (text: string, file: string): Yaml | undefined => (text === '' ? undefined : readYaml(text, file));

const memberOf = (value: Yaml | undefined, name: string): Yaml | undefined =>
  value instanceof Map ? value.get(name) : undefined;
