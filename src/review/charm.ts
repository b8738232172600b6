// Reads a charm or a bundle: a zip archive with its metadata, the bases that it was built for, and what it was built from.
import type { Source } from './squashfs/source.ts';
import { Unacceptable, plain, quoted } from './unacceptable.ts';
import type { Base, CharmFacts, CharmSayings, DeclaredResource } from './verdict.ts';
import { readYaml, type Yaml } from './yaml.ts';
import { openZip, type Zip } from './zip.ts';

type Mapping = Map<Yaml, Yaml>;

const mostKeys = 2_000;
const mostResources = 200;
const mostBases = 500;

/** What stands in the charm; throws `Unacceptable` when it cannot be taken as the package called `packageName`. */
export function readCharm(source: Source, packageName: string): CharmFacts {
  const zip = openZip(source, [
    'metadata.yaml',
    'charmcraft.yaml',
    'manifest.yaml',
    'actions.yaml',
    'config.yaml',
    'version',
  ]);
  const craft = mappingIn(zip, 'charmcraft.yaml');
  // Where there is no metadata.yaml, newer charms have all of it in charmcraft.yaml.
  const own = mappingIn(zip, 'metadata.yaml') ?? (craft?.document.has('name') === true ? craft : undefined);
  if (own === undefined) throw new Unacceptable('Missing required file: metadata.yaml');
  const [actions, config] = ['actions.yaml', 'config.yaml'].map((file) => mappingIn(zip, file)?.text ?? null);
  const { document, file } = own;
  nameOf(document, file, packageName);
  return {
    name: packageName,
    version: versionOf(zip),
    title: proseOf(document, 'display-name', 256) ?? proseOf(document, 'title', 256),
    summary: proseOf(document, 'summary', 512),
    description: proseOf(document, 'description', 64 << 10),
    bases: basesOf(mappingIn(zip, 'manifest.yaml')?.document),
    resources: resourcesOf(document, file),
    said: saidIn(document),
    packageYaml: own.text,
    configYaml: config ?? null,
    actionsYaml: actions ?? null,
    craftYaml: craft?.text ?? null,
  };
}

/** The same for a bundle, which deploys several charms together. */
export function readBundle(source: Source, packageName: string): CharmFacts {
  const zip = openZip(source, ['bundle.yaml', 'charmcraft.yaml', 'manifest.yaml', 'version']);
  const own = mappingIn(zip, 'bundle.yaml');
  if (own === undefined) throw new Unacceptable('Missing required file: bundle.yaml');
  const { document, file } = own;
  if (document.has('name')) nameOf(document, file, packageName);
  const applications = document.get('applications') ?? document.get('services');
  if (!(applications instanceof Map) || applications.size === 0) {
    throw new Unacceptable(`${file} has no 'applications': say which charms the bundle deploys.`);
  }
  return {
    name: packageName,
    version: versionOf(zip),
    title: proseOf(document, 'title', 256),
    summary: proseOf(document, 'summary', 512),
    description: proseOf(document, 'description', 64 << 10),
    bases: basesOf(mappingIn(zip, 'manifest.yaml')?.document),
    resources: [],
    said: { provides: [], requires: [], resources: {}, ...sortOf(document) },
    packageYaml: own.text,
    configYaml: null,
    actionsYaml: null,
    craftYaml: zip.text('charmcraft.yaml') ?? null,
  };
}

interface File {
  file: string;
  text: string;
  document: Mapping;
}

function mappingIn(zip: Zip, file: string): File | undefined {
  const text = zip.text(file);
  if (text === undefined) return undefined;
  // An empty document says as much as an empty mapping.
  const document = readYaml(text, file) ?? new Map<Yaml, Yaml>();
  if (!(document instanceof Map))
    throw new Unacceptable(`${file} must be a mapping, with lines such as 'name: hello'.`);
  if (document.size > mostKeys)
    throw new Unacceptable(`${file} has ${document.size} keys, but at most ${mostKeys} are accepted: shorten it.`);
  return { file, text, document };
}

function nameOf(document: Mapping, file: string, packageName: string): void {
  const name = document.get('name');
  if (typeof name !== 'string' || name === '')
    throw new Unacceptable(`${file} has no 'name': add 'name: ${packageName}'.`);
  if (name === packageName) return;
  throw new Unacceptable(
    `The package is called ${quoted(name)} in ${file}, but was pushed to ${quoted(packageName)}. Push it to ${quoted(name)}, or change the name in it.`,
  );
}

/** Text for people. It only fills in what a publisher has not said, so what does not fit is left out. */
function proseOf(document: Mapping, key: string, most: number): string | null {
  const text = document.get(key);
  if (typeof text !== 'string' || text === '' || text.length > most || !text.isWellFormed() || text.includes('\0'))
    return null;
  return text;
}

/** The content of the file `version`, which builders leave in a charm, where it is one plain line. */
function versionOf(zip: Zip): string | null {
  const bytes = zip.read('version');
  const text = bytes === undefined || bytes.length > 200 ? '' : Buffer.from(bytes).toString('latin1').trim();
  return /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/.test(text) ? text : null;
}

/** The bases of manifest.yaml, one for each architecture; a charm that names none runs everywhere. */
function basesOf(manifest: Mapping | undefined): Base[] {
  const everywhere = [{ architecture: 'all', channel: 'all', name: 'all' }];
  const list = manifest?.get('bases') ?? [];
  const wrong = new Unacceptable(
    "'bases' in manifest.yaml must be a list of bases, each with a name, a channel and a list of architectures.",
  );
  if (!Array.isArray(list)) throw wrong;
  const bases = new Map<string, Base>();
  for (const base of list) {
    if (!(base instanceof Map)) throw wrong;
    const [name, channel, architectures] = [
      base.get('name'),
      base.get('channel'),
      base.get('architectures') ?? ['all'],
    ];
    if (!isWord(name) || !isWord(channel) || !Array.isArray(architectures)) throw wrong;
    for (const architecture of architectures) {
      if (!isWord(architecture)) throw wrong;
      bases.set(`${name}/${channel}/${architecture}`, { architecture, channel, name });
      if (bases.size > mostBases)
        throw new Unacceptable(`manifest.yaml names more than ${mostBases} bases: leave some out.`);
    }
  }
  return bases.size === 0 ? everywhere : [...bases.values()];
}

const isWord = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/.test(value);

function resourcesOf(document: Mapping, file: string): DeclaredResource[] {
  const resources = document.get('resources') ?? new Map<Yaml, Yaml>();
  if (!(resources instanceof Map))
    throw new Unacceptable(`'resources' in ${file} must be a mapping of names to what each resource is.`);
  if (resources.size > mostResources) {
    throw new Unacceptable(`${file} declares ${resources.size} resources, but at most ${mostResources} are accepted.`);
  }
  return [...resources].map(([name, resource]) => {
    if (typeof name !== 'string' || !/^[a-zA-Z0-9](?:[._-]?[a-zA-Z0-9]){0,63}$/.test(name)) {
      throw new Unacceptable(
        `The resource name ${typeof name === 'string' ? quoted(name) : 'that is no text'} in ${file} is not possible: use letters and digits, with single ., _ or - between them.`,
      );
    }
    const type = resource instanceof Map ? resource.get('type') : undefined;
    if (type !== 'file' && type !== 'oci-image') {
      const found = typeof type === 'string' ? `'${plain(type)}'` : 'nothing';
      throw new Unacceptable(
        `The resource '${name}' in ${file} must have the type file or oci-image, but has ${found}.`,
      );
    }
    return { name, type, optional: resource instanceof Map && resource.get('optional') === 'true' };
  });
}

const mostInterfaces = 200;

/** What people are told of the relations and resources of a charm; what does not fit is left out. */
function saidIn(document: Mapping): CharmSayings {
  const resources: CharmSayings['resources'] = {};
  for (const [name, resource] of entriesOf(document.get('resources'))) {
    if (!(resource instanceof Map)) continue;
    const filename = proseOf(resource, 'filename', 255) ?? '';
    const description = proseOf(resource, 'description', 2000) ?? '';
    if (filename !== '' || description !== '') resources[name] = { filename, description };
  }
  return {
    provides: interfacesOf(document.get('provides')),
    requires: interfacesOf(document.get('requires')),
    resources,
    ...sortOf(document),
  };
}

const mostCategories = 20;

/** Its license, and its categories, which older metadata calls tags; what does not fit is left out. */
function sortOf(document: Mapping): Pick<CharmSayings, 'categories' | 'license'> {
  const listed = ['categories', 'tags'].flatMap((key) => {
    const named = document.get(key);
    return Array.isArray(named) ? named.filter(isWord) : [];
  });
  return { categories: [...new Set(listed)].slice(0, mostCategories), license: proseOf(document, 'license', 256) };
}

/** The interfaces of relations, each once. */
function interfacesOf(relations: Yaml | undefined): string[] {
  const found = new Set<string>();
  for (const [, relation] of entriesOf(relations)) {
    const name = relation instanceof Map ? relation.get('interface') : undefined;
    if (isWord(name) && found.size < mostInterfaces) found.add(name);
  }
  return [...found];
}

const entriesOf = (mapping: Yaml | undefined): [string, Yaml][] =>
  mapping instanceof Map ? [...mapping].filter((entry): entry is [string, Yaml] => typeof entry[0] === 'string') : [];
