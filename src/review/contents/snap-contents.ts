// Reads the bill of materials of a snap from the lists in it: snapcraft's manifest, the lists of dpkg in bases and
// kernels, or the recipe. A list that cannot be read becomes a gap; it never refuses a snap.
import {
  BillCollector,
  type BillComponent,
  type BillOfMaterials,
  type DistributionRelease,
} from '#domain/vulnerabilities/bill-of-materials.ts';
import { utf8 } from '../icon.ts';
import type { Image } from '../squashfs/image.ts';
import type { Inode } from '../squashfs/inode.ts';
import { Unacceptable } from '../unacceptable.ts';
import { readYaml, type Yaml } from '../yaml.ts';
import { parseStagedPackage, readDpkgList, readDpkgStatus, readOsRelease } from './package-lists.ts';

/** The maximum bytes of one list. A base has less than 100 KB. */
const maxListBytes = 4 << 20;
const maxYamlBytes = 1 << 20;

/** The releases that bases are built from. */
const releasesOfBases: ReadonlyMap<string, string> = new Map([
  ['core', '16.04'],
  ['core16', '16.04'],
  ['core18', '18.04'],
  ['core20', '20.04'],
  ['core22', '22.04'],
  ['core24', '24.04'],
  ['core26', '26.04'],
]);

export interface SnapBillSource {
  image: Image;
  /** The inodes in the root of the snap, by name: at least `usr`, `etc`, `var` and `dpkg.yaml`. */
  top: ReadonlyMap<string, Inode>;
  /** snap/manifest.yaml; `null` if it is there and cannot be read. */
  manifest: Yaml | undefined;
  /** snap/snapcraft.yaml. */
  recipe: string | null;
  base: string | null;
  type: string;
}

export function readSnapBill({ image, top, manifest, recipe, base, type }: SnapBillSource): BillOfMaterials {
  const bill = new BillCollector();
  const files = new ListFiles(image, top, bill);
  if (manifest === null) bill.addGap(`${manifestFile} cannot be read.`);
  else if (manifest !== undefined) addManifest(bill, manifest);
  for (const file of ['usr/share/snappy/dpkg.yaml', 'dpkg.yaml']) {
    const text = files.text(file, maxYamlBytes);
    if (text !== undefined) addYaml(bill, file, text, (document) => staged(memberOf(document, 'packages')));
  }
  const isBase = type === 'base' || type === 'os';
  for (const [file, read] of [
    ['usr/share/snappy/dpkg.list', readDpkgList],
    ['var/lib/dpkg/status', readDpkgStatus],
  ] as const) {
    const text = files.text(file, maxListBytes);
    if (text !== undefined) bill.addFile(file, read(text));
  }
  if (manifest === undefined && recipe !== null) addRecipe(bill, recipe);
  const ownRelease = isBase ? files.text('usr/lib/os-release', maxYamlBytes) : undefined;
  bill.distribution =
    (ownRelease === undefined ? undefined : readOsRelease(ownRelease)) ??
    releaseOfBase(base) ??
    buildRelease(manifest) ??
    // A device runs an app without a base on core.
    releaseOfBase(type === 'app' && base === null ? 'core' : null);
  return bill.finish(
    'The snap lists none of its contents: it has no snap/manifest.yaml. Build it with SNAPCRAFT_BUILD_INFO=1.',
  );
}

function releaseOfBase(base: string | null): DistributionRelease | null {
  const version = releasesOfBases.get(base ?? '');
  return version === undefined ? null : { id: 'ubuntu', version };
}

/** The distribution release that snapcraft ran on. A snap without a base gets its packages from the archive of that release. */
function buildRelease(manifest: Yaml | undefined): DistributionRelease | null {
  const [id, version] = ['snapcraft-os-release-id', 'snapcraft-os-release-version-id'].map((key) =>
    memberOf(manifest, key),
  );
  const plain = /^[A-Za-z0-9._-]{1,64}$/;
  return typeof id === 'string' && typeof version === 'string' && plain.test(id) && plain.test(version)
    ? { id, version }
    : null;
}

const manifestFile = 'snap/manifest.yaml';

function addManifest(bill: BillCollector, manifest: Yaml): void {
  const primed = memberOf(manifest, 'primed-stage-packages');
  const parts = partsOf(manifest);
  const ofParts = parts.flatMap((part) => [...staged(memberOf(part, 'stage-packages'))]);
  if (!Array.isArray(primed) && !parts.some((part) => memberOf(part, 'stage-packages') !== undefined))
    bill.addGap(`${manifestFile} has no list of packages.`);
  // Parts also list packages that were not primed; they count only without a list of primed packages.
  bill.addFile(manifestFile, Array.isArray(primed) ? staged(primed) : ofParts);
  bill.addFile(manifestFile, parts.flatMap(ofLanguages));
}

const ofLanguages = (part: Yaml): (BillComponent | undefined)[] =>
  (['python', 'node'] as const).flatMap((language) => {
    const list = memberOf(part, `${language}-packages`);
    return (Array.isArray(list) ? list : []).map((text) => parseLanguagePackage(text, language));
  });

/** `NAME=VERSION`, or `NAME==VERSION`. */
function parseLanguagePackage(text: Yaml, language: 'python' | 'node'): BillComponent | undefined {
  const at = typeof text === 'string' ? text.lastIndexOf('=') : -1;
  if (typeof text !== 'string' || at < 1) return undefined;
  const name = text.slice(0, text[at - 1] === '=' ? at - 1 : at);
  return { ecosystem: language === 'python' ? 'pypi' : 'npm', name, version: text.slice(at + 1) };
}

/** The recipe that snapcraft records has the versions of the packages that it staged. */
function addRecipe(bill: BillCollector, recipe: string): void {
  const file = 'snap/snapcraft.yaml';
  addYaml(bill, file, recipe, (document) => {
    const listed = partsOf(document).flatMap((part) => [...staged(memberOf(part, 'stage-packages'))]);
    // A recipe as a person wrote it has names without versions, or none at all.
    return listed.some((component) => component !== undefined) ? listed : undefined;
  });
}

function addYaml(
  bill: BillCollector,
  file: string,
  text: string,
  componentsIn: (document: Yaml) => Iterable<BillComponent | undefined> | undefined,
): void {
  try {
    const components = componentsIn(readYaml(text, file));
    if (components !== undefined) bill.addFile(file, components);
  } catch (error) {
    if (!(error instanceof Unacceptable)) throw error;
    bill.addGap(`${file} cannot be read.`);
  }
}

function* staged(list: Yaml | undefined): Generator<BillComponent | undefined, void> {
  if (Array.isArray(list)) for (const text of list) yield parseStagedPackage(text);
}

function partsOf(document: Yaml): Yaml[] {
  const parts = memberOf(document, 'parts');
  return parts instanceof Map ? [...parts.values()] : [];
}

const memberOf = (value: Yaml | undefined, key: string): Yaml | undefined =>
  value instanceof Map ? value.get(key) : undefined;

/** Reads lists by their paths. Links are not followed. */
class ListFiles {
  readonly #image: Image;
  readonly #top: ReadonlyMap<string, Inode>;
  readonly #bill: BillCollector;

  constructor(image: Image, top: ReadonlyMap<string, Inode>, bill: BillCollector) {
    this.#image = image;
    this.#top = top;
    this.#bill = bill;
  }

  /** The text of a file; undefined if there is none, and with a gap if it is too long, corrupt or no text. */
  text(path: string, maxBytes: number): string | undefined {
    try {
      const inode = this.#find(path.split('/'));
      if (inode?.kind !== 'file' || inode.size === 0) return undefined;
      const text = inode.size > maxBytes ? undefined : utf8(this.#image.read(inode, maxBytes));
      if (text === undefined) this.#bill.addGap(`${path} is no text of at most ${String(maxBytes)} bytes.`);
      return text;
    } catch (error) {
      if (!(error instanceof Unacceptable)) throw error;
      this.#bill.addGap(`${path} cannot be read.`);
      return undefined;
    }
  }

  #find([first = '', ...names]: string[]): Inode | undefined {
    let inode = this.#top.get(first);
    for (const name of names)
      inode = inode?.kind === 'directory' ? this.#image.find(inode, [name]).get(name) : undefined;
    return inode;
  }
}
