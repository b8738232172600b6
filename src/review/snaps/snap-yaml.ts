// Reads meta/snap.yaml, and checks whether the store can accept the snap. All faults are reported at once.
import { readEpoch } from '#domain/revisions/epoch.ts';
import { nameProblem } from '#domain/packages/package-name.ts';
import { readLicenseAndLinks } from './license-and-links.ts';
import { Unacceptable, quoted } from '../unacceptable.ts';
import { snapConfinements, snapGrades, snapTypes, type ReviewedResource, type SnapFacts } from '../verdict.ts';
import { readYaml, type Yaml } from '../yaml.ts';

export type SnapYamlFacts = Omit<SnapFacts, 'craftYaml' | 'buildUrl' | 'bill' | 'icon' | 'notices'>;

export interface SnapYamlOptions {
  /** Whether the snap has a valid signature: then facts that the store does not need cause no refusal. */
  signed?: boolean;
  /** The faults that make a device refuse the snap; reported after those of the text itself. */
  refusals?: readonly string[];
}

/** Reads and checks the text of a snap's meta/snap.yaml; the snap was pushed to the package `packageName`. */
export function readSnapYaml(
  text: string,
  packageName: string,
  { signed = false, refusals = [] }: SnapYamlOptions = {},
): SnapYamlFacts {
  const document = readYaml(text, file);
  if (!(document instanceof Map)) {
    throw new Unacceptable(`${file} must be a mapping, with lines such as 'name: ${packageName}'.`);
  }
  const faults: string[] = [];
  const snap: Snap = { document, faults, signed };
  const name = nameOf(snap, packageName);
  const facts: SnapYamlFacts = {
    name,
    version: versionOf(snap),
    type: typeOf(snap, name),
    base: baseOf(snap),
    grade: oneOf(snap, 'grade', snapGrades, 'stable'),
    confinement: oneOf(snap, 'confinement', snapConfinements, 'strict', true),
    architectures: architecturesOf(snap),
    apps: appsOf(snap),
    title: proseOf(snap, 'title', 256),
    summary: proseOf(snap, 'summary', 64 << 10),
    description: proseOf(snap, 'description', 64 << 10),
    epoch: epochOf(snap),
    snapYaml: text,
    ...readLicenseAndLinks(document),
    ...componentsOf(snap),
  };
  const [first, ...others] = new Set([...faults, ...refusals]);
  if (first !== undefined) throw new Unacceptable(first, ...others);
  return facts;
}

const file = 'meta/snap.yaml';

/** The document, and its faults so far. */
interface Snap {
  document: Map<Yaml, Yaml>;
  faults: string[];
  signed: boolean;
}

/** A device treats `~`, `null`, an empty text and a missing key alike. */
function valueOf({ document }: Snap, key: string): string | Yaml[] | Map<Yaml, Yaml> | undefined {
  const value = document.get(key);
  return value === null || value === '' ? undefined : value;
}

function textOf(snap: Snap, key: string): string | undefined {
  const value = valueOf(snap, key);
  if (value === undefined || typeof value === 'string') return value;
  snap.faults.push(`'${key}' in ${file} must be one text, not a list or a mapping.`);
  return undefined;
}

/** Reads a required text that must satisfy `valid`. */
function requiredOf(snap: Snap, key: string, valid: (text: string) => boolean, rule: string): string {
  const text = textOf(snap, key);
  if (text === undefined && valueOf(snap, key) === undefined)
    snap.faults.push(`${file} has no '${key}': add it. ${rule}`);
  if (text !== undefined && !valid(text))
    snap.faults.push(`The ${key} ${quoted(text)} in ${file} is not possible. ${rule}`);
  return text ?? '';
}

const isName = (text: string) => nameProblem(text) === undefined;
const nameRule =
  'A snap name is made of 2 to 40 of the characters a-z, 0-9 and -, with at least one letter and no - at its beginning, at its end or twice in a row.';

function nameOf(snap: Snap, packageName: string): string {
  const before = snap.faults.length;
  const name = requiredOf(snap, 'name', isName, nameRule);
  if (snap.faults.length === before && name !== packageName) {
    snap.faults.push(
      `The snap is called ${quoted(name)} in ${file}, but was pushed to ${quoted(packageName)}. Push it to ${quoted(name)}, or change the name in it.`,
    );
  }
  return name;
}

export const isSnapVersion = (text: string): boolean =>
  /^[a-zA-Z0-9](?:[a-zA-Z0-9:.+~-]{0,30}[a-zA-Z0-9+~])?$/.test(text);
export const snapVersionRule =
  'A version is made of 1 to 32 of the characters a-z, A-Z, 0-9, :, ., +, ~ and -, beginning with a letter or digit and ending with a letter, a digit, + or ~.';

function versionOf(snap: Snap): string {
  return requiredOf(snap, 'version', isSnapVersion, snapVersionRule);
}

function typeOf(snap: Snap, name: string): SnapFacts['type'] {
  // The first snaps called an app `application`.
  const type = valueOf(snap, 'type') === 'application' ? 'app' : oneOf(snap, 'type', snapTypes, 'app', true);
  // A device treats the snap with this name as the daemon itself, regardless of its type.
  return name === 'snapd' ? 'snapd' : type;
}

/** `refuseEmpty`: a device does not treat a quoted empty text as absent here. */
function oneOf<T extends string>(snap: Snap, key: string, words: readonly T[], fallback: T, refuseEmpty = false): T {
  const text = refuseEmpty && snap.document.get(key) === '' ? '' : textOf(snap, key);
  if (text === undefined) return fallback;
  const word = words.find((candidate) => candidate === text);
  if (word === undefined)
    snap.faults.push(`The ${key} ${quoted(text)} in ${file} is unknown: use ${words.join(', ')}.`);
  return word ?? fallback;
}

function baseOf(snap: Snap): string | null {
  const base = textOf(snap, 'base');
  if (base !== undefined && base !== 'none' && !isName(base)) {
    snap.faults.push(
      `The base ${quoted(base)} in ${file} is not the name of a snap, such as core24, nor 'none'. ${nameRule}`,
    );
  }
  return base ?? null;
}

function architecturesOf(snap: Snap): string[] {
  const value = snap.document.get('architectures') ?? [];
  if (!Array.isArray(value)) {
    snap.faults.push(`'architectures' in ${file} must be a list, such as [amd64, arm64].`);
    return [];
  }
  const isPossible = (text: Yaml): text is string =>
    typeof text === 'string' && /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/.test(text);
  const wrong = value.find((architecture) => !isPossible(architecture));
  if (wrong !== undefined && !snap.signed) {
    const which = typeof wrong === 'string' ? quoted(wrong) : 'something else';
    snap.faults.push(
      `'architectures' in ${file} must list names such as amd64, arm64 or all, but ${which} is among them.`,
    );
  }
  const names = new Set(value.filter(isPossible));
  return names.size === 0 ? ['all'] : [...names];
}

function appsOf(snap: Snap): string[] {
  const value = valueOf(snap, 'apps') ?? new Map<Yaml, Yaml>();
  if (!(value instanceof Map)) {
    snap.faults.push(`'apps' in ${file} must be a mapping of names to values.`);
    return [];
  }
  const names: string[] = [];
  for (const name of value.keys()) {
    if (typeof name === 'string' && /^[a-zA-Z0-9](?:-?[a-zA-Z0-9])*$/.test(name)) names.push(name);
    else {
      const which = typeof name === 'string' ? quoted(name) : 'that is no text';
      snap.faults.push(
        `The app name ${which} in ${file} is not possible: use letters and digits, with single - between them.`,
      );
      break;
    }
  }
  return names;
}

const maxComponents = 1000;

/** The components, which are resources of the snap; all of them are optional. */
function componentsOf(snap: Snap): Pick<SnapFacts, 'components'> {
  const value = valueOf(snap, 'components') ?? new Map<Yaml, Yaml>();
  if (!(value instanceof Map) || value.size > maxComponents) {
    snap.faults.push(
      `'components' in ${file} must be a mapping of at most ${String(maxComponents)} names of components with their properties.`,
    );
    return {};
  }
  const components: ReviewedResource[] = [];
  for (const [name, component] of value) {
    const type = component instanceof Map ? component.get('type') : undefined;
    const word = componentTypes.find((candidate) => candidate === `component/${typeof type === 'string' ? type : ''}`);
    if (typeof name === 'string' && isName(name) && word !== undefined)
      components.push({ name, type: word, optional: true });
    else if (!snap.signed) {
      snap.faults.push(
        `Each of the 'components' in ${file} needs a name like a snap's and a type: test, kernel-modules or standard.`,
      );
      break;
    }
  }
  return components.length === 0 ? {} : { components };
}

const componentTypes = ['component/test', 'component/kernel-modules', 'component/standard'] as const;

/** Text for people, truncated to the length of the records. A device's limit of the length is a separate rule. */
function proseOf(snap: Snap, key: string, maxLength: number): string | null {
  const text = textOf(snap, key);
  if (text === undefined) return null;
  const truncated = text.length > maxLength ? Array.from(text).slice(0, maxLength).join('') : text;
  // A device accepts a NUL; the records cannot store one.
  return truncated.replaceAll('\0', '\ufffd');
}

/** The epoch as text: as it is written, or as JSON if it has lists. */
function epochOf(snap: Snap): string | null {
  const value = valueOf(snap, 'epoch');
  if (value === undefined) return null;
  const lists = value instanceof Map ? { read: value.get('read'), write: value.get('write') } : undefined;
  const epoch = readEpoch(lists ?? value);
  if (epoch !== undefined) return typeof value === 'string' ? value : JSON.stringify(epoch);
  snap.faults.push(
    `'epoch' in ${file} must be a number such as 2, a number with a star such as 2*, or rising lists of at most 10 numbers for 'read' and 'write' that have one in common.`,
  );
  return null;
}
