// Reads a charm or a bundle: a zip archive with files that satisfy the rules of juju (juju/).
import { checkActions } from '../juju/actions.ts';
import { checkBundleData } from '../juju/bundle-data.ts';
import { checkConfig } from '../juju/config.ts';
import { readManifest, type CharmBase } from '../juju/manifest.ts';
import { readMetadata, type CharmMetadata } from '../juju/metadata.ts';
import { checkLxdProfile, checkMetrics, checkRevision } from '../juju/other-files.ts';
import type { CharmRelation } from '../juju/relations.ts';
import { isNonText } from '../juju/values.ts';
import { readCharmBill, requirementFiles } from '../contents/charm-contents.ts';
import type { UploadBytes } from '../squashfs/source.ts';
import { Unacceptable, quoted } from '../unacceptable.ts';
import type { Base, CharmFacts, CharmCatalogFacts, ReviewedResource } from '../verdict.ts';
import { readTypedYaml, type TypedYaml } from '../yaml.ts';
import { openZip, type Zip } from './zip.ts';

/** Limits of the store; juju has none. */
const maxKeys = 2_000;
const maxResources = 200;
const maxBases = 500;

const charmFiles = [
  'metadata.yaml',
  'bundle.yaml',
  'charmcraft.yaml',
  'manifest.yaml',
  'actions.yaml',
  'config.yaml',
  'metrics.yaml',
  'lxd-profile.yaml',
  'revision',
  'version',
  ...requirementFiles,
];

/** Reads a charm; throws `Unacceptable` if it is not acceptable for the package `packageName`. */
export function readCharm(source: UploadBytes, packageName: string): CharmFacts {
  const zip = openZip(source, charmFiles);
  const own = documentIn(zip, 'metadata.yaml');
  if (own === undefined) {
    if (zip.has('bundle.yaml')) throw otherKind('bundle', 'charm', packageName);
    throw new Unacceptable('Missing required file: metadata.yaml');
  }
  checkName(own, packageName);
  const manifest = documentIn(zip, 'manifest.yaml');
  const bases = manifest === undefined ? [] : readManifest(manifest.document, manifest.file);
  const metadata = readMetadata(own.document, own.file, bases.length > 0);
  const [config, actions] = checkOthers(zip, metadata);
  return {
    name: packageName,
    version: versionOf(zip),
    title: proseOf(own, 'display-name', 256) ?? proseOf(own, 'title', 256),
    summary: proseOf(own, 'summary', 512),
    description: proseOf(own, 'description', 64 << 10),
    bases: basesOf(bases),
    resources: resourcesOf(metadata, own),
    catalogFacts: sayingsOf(metadata, own),
    packageYaml: own.text,
    configYaml: config ?? null,
    actionsYaml: actions ?? null,
    craftYaml: zip.text('charmcraft.yaml') ?? null,
    bill: readCharmBill(zip),
  };
}

/** Checks the other files of a charm by juju's rules; returns the texts of config.yaml and actions.yaml. */
function checkOthers(zip: Zip, { name }: CharmMetadata): [string | undefined, string | undefined] {
  const read = (file: string, check: (document: TypedYaml, file: string) => void): string | undefined => {
    const yamlFile = documentIn(zip, file);
    if (yamlFile !== undefined) check(yamlFile.document, file);
    return yamlFile?.text;
  };
  const config = read('config.yaml', checkConfig);
  read('metrics.yaml', checkMetrics);
  const actions = read('actions.yaml', (document, file) => {
    checkActions(document, file, name);
  });
  read('lxd-profile.yaml', checkLxdProfile);
  const revision = zip.text('revision');
  if (revision !== undefined) checkRevision(revision, 'revision');
  return [config, actions];
}

/** Reads a bundle, which deploys several charms together. If the file has several documents, the first is the bundle. */
export function readBundle(source: UploadBytes, packageName: string): CharmFacts {
  const zip = openZip(source, ['bundle.yaml', 'metadata.yaml', 'charmcraft.yaml', 'version', 'README.md']);
  const own = documentIn(zip, 'bundle.yaml');
  if (own === undefined) {
    if (zip.has('metadata.yaml')) throw otherKind('charm', 'bundle', packageName);
    throw new Unacceptable('Missing required file: bundle.yaml');
  }
  if (own.members.has('name')) checkName(own, packageName);
  checkBundleData(own.document, own.file);
  if (!zip.has('README.md'))
    throw new Unacceptable('Missing required file: README.md. juju reads no bundle without one.');
  return {
    name: packageName,
    version: versionOf(zip),
    title: proseOf(own, 'title', 256),
    summary: proseOf(own, 'summary', 512),
    description: proseOf(own, 'description', 64 << 10),
    bases: basesOf([]),
    resources: [],
    catalogFacts: { provides: [], requires: [], resources: {}, ...sortOf(own, wordsIn(own, ['categories', 'tags'])) },
    packageYaml: own.text,
    configYaml: null,
    actionsYaml: null,
    craftYaml: zip.text('charmcraft.yaml') ?? null,
    // A bundle deploys charms and contains no software itself.
    bill: { distribution: null, files: ['bundle.yaml'], gaps: [], components: [] },
  };
}

const otherKind = (is: string, expected: string, packageName: string): Unacceptable =>
  new Unacceptable(
    `The file is a ${is}, but ${quoted(packageName)} is the name of a ${expected}. Push it to a name of the type ${is}.`,
  );

/** A YAML file of the archive; `members` is empty unless the document is a mapping. */
interface CharmDocument {
  file: string;
  text: string;
  document: TypedYaml;
  members: ReadonlyMap<TypedYaml, TypedYaml>;
}

function documentIn(zip: Zip, file: string): CharmDocument | undefined {
  const text = zip.text(file);
  if (text === undefined) return undefined;
  const document = readTypedYaml(text, file);
  const members = document instanceof Map ? document : new Map<TypedYaml, TypedYaml>();
  if (members.size > maxKeys)
    throw new Unacceptable(
      `${file} has ${String(members.size)} keys, but at most ${String(maxKeys)} are accepted: shorten it.`,
    );
  return { file, text, document, members };
}

function checkName({ members, file }: CharmDocument, packageName: string): void {
  const name = wordOf(members.get('name'));
  if (name === undefined || name === '') throw new Unacceptable(`${file} has no 'name': add 'name: ${packageName}'.`);
  if (name === packageName) return;
  throw new Unacceptable(
    `The package is called ${quoted(name)} in ${file}, but was pushed to ${quoted(packageName)}. Push it to ${quoted(name)}, or change the name in it.`,
  );
}

/** A text, a number or a boolean as it was written. */
const wordOf = (value: TypedYaml | undefined): string | undefined =>
  typeof value === 'string' ? value : isNonText(value) ? value.text : undefined;

/** Text for people. It only supplies defaults for the publisher's metadata, so invalid text is left out. */
function proseOf({ members }: CharmDocument, key: string, maxLength: number): string | null {
  const text = wordOf(members.get(key)) ?? '';
  if (text === '' || text.length > maxLength || !text.isWellFormed() || text.includes('\0')) return null;
  return text;
}

/** The content of the file `version`, which builders leave in a charm, if it is one plain line. */
function versionOf(zip: Zip): string | null {
  const bytes = zip.read('version');
  const text = bytes === undefined || bytes.length > 200 ? '' : Buffer.from(bytes).toString('latin1').trim();
  return /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/.test(text) ? text : null;
}

/** Bases, one per architecture; a charm without bases runs everywhere. */
function basesOf(bases: readonly CharmBase[]): Base[] {
  const basesByKey = new Map<string, Base>();
  for (const { name, channel, architectures } of bases)
    for (const architecture of architectures.length === 0 ? ['all'] : architectures)
      basesByKey.set(`${name}/${channel}/${architecture}`, { architecture, channel, name });
  if (basesByKey.size > maxBases)
    throw new Unacceptable(`manifest.yaml names more than ${String(maxBases)} bases: leave some out.`);
  return basesByKey.size === 0 ? [{ architecture: 'all', channel: 'all', name: 'all' }] : [...basesByKey.values()];
}

function resourcesOf({ resources }: CharmMetadata, { file, members }: CharmDocument): ReviewedResource[] {
  if (resources.size > maxResources)
    throw new Unacceptable(
      `${file} declares ${String(resources.size)} resources, but at most ${String(maxResources)} are accepted.`,
    );
  const written = members.get('resources');
  return [...resources].map(([name, { type }]) => {
    // The name is a part of addresses in the store.
    if (!/^[a-zA-Z0-9](?:[._-]?[a-zA-Z0-9]){0,63}$/.test(name)) {
      throw new Unacceptable(
        `The resource name ${quoted(name)} in ${file} is not possible: use letters and digits, with single ., _ or - between them.`,
      );
    }
    const about = written instanceof Map ? written.get(name) : undefined;
    const optional = about instanceof Map ? wordOf(about.get('optional')) : undefined;
    return { name, type, optional: optional === 'true' };
  });
}

const maxInterfaces = 200;

/** The descriptions of a charm's relations and resources for people; invalid ones are left out. */
function sayingsOf({ relations, resources, categories, tags }: CharmMetadata, own: CharmDocument): CharmCatalogFacts {
  const fitting = (text: string, maxLength: number): string =>
    text.length <= maxLength && text.isWellFormed() ? text : '';
  const resourceTexts: CharmCatalogFacts['resources'] = {};
  for (const [name, resource] of resources) {
    const [filename, description] = [fitting(resource.filename, 255), fitting(resource.description, 2000)];
    if (filename !== '' || description !== '') resourceTexts[name] = { filename, description };
  }
  return {
    provides: interfacesOf(relations.provides),
    requires: interfacesOf(relations.requires),
    resources: resourceTexts,
    ...sortOf(own, [...categories, ...tags]),
  };
}

const maxCategories = 20;

/** Its license, and its categories, called tags in older metadata; invalid ones are left out. */
const sortOf = (
  own: CharmDocument,
  categories: readonly string[],
): Pick<CharmCatalogFacts, 'categories' | 'license'> => ({
  categories: [...new Set(categories.filter(isWord))].slice(0, maxCategories),
  license: proseOf(own, 'license', 256),
});

function wordsIn({ members }: CharmDocument, keys: readonly string[]): string[] {
  return keys.flatMap((key) => {
    const listed = members.get(key);
    return Array.isArray(listed) ? listed.flatMap((value) => wordOf(value) ?? []) : [];
  });
}

const isWord = (text: string): boolean => /^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/.test(text);

/** The interfaces of relations, without duplicates. */
const interfacesOf = (relations: ReadonlyMap<string, CharmRelation>): string[] =>
  [...new Set([...relations.values()].map((relation) => relation.interface).filter(isWord))].slice(0, maxInterfaces);
