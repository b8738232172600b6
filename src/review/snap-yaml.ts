// What meta/snap.yaml says about a snap, and whether a store and its devices can take it. All that is wrong is said at
// once, so that nobody has to push again and again to learn of the next fault.
import { nameProblem } from '#domain/package-name.ts';
import { Unacceptable, quoted } from './unacceptable.ts';
import { snapConfinements, snapGrades, snapTypes, type DeclaredResource, type SnapFacts } from './verdict.ts';
import { readYaml, type Yaml } from './yaml.ts';

export type SnapYamlFacts = Omit<SnapFacts, 'craftYaml' | 'buildUrl' | 'icon'>;

/** Reads and checks the text of a snap's meta/snap.yaml; the snap was pushed to the package called `packageName`. */
export function readSnapYaml(text: string, packageName: string): SnapYamlFacts {
  const document = readYaml(text, file);
  if (!(document instanceof Map)) {
    throw new Unacceptable(`${file} must be a mapping, with lines such as 'name: ${packageName}'.`);
  }
  const faults: string[] = [];
  const snap: Snap = { document, faults };
  const name = nameOf(snap, packageName);
  const facts: SnapYamlFacts = {
    name,
    version: versionOf(snap),
    type: typeOf(snap, name),
    base: baseOf(snap),
    grade: oneOf(snap, 'grade', snapGrades, 'stable'),
    confinement: oneOf(snap, 'confinement', snapConfinements, 'strict'),
    architectures: architecturesOf(snap),
    apps: appsOf(snap),
    title: proseOf(snap, 'title', 256),
    summary: proseOf(snap, 'summary', 512),
    description: proseOf(snap, 'description', 64 << 10),
    epoch: epochOf(snap),
    snapYaml: text,
    ...componentsOf(snap),
  };
  const [first, ...others] = faults;
  if (first !== undefined) throw new Unacceptable(first, ...others);
  return facts;
}

const file = 'meta/snap.yaml';

/** The document while it is read, and what has been found wrong with it so far. */
interface Snap {
  document: Map<Yaml, Yaml>;
  faults: string[];
}

/** `~`, `null`, an empty text and a missing key are all the same to a device. */
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

/** Text that must be there, and be as `pattern` says. */
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

function versionOf(snap: Snap): string {
  const pattern = /^[a-zA-Z0-9](?:[a-zA-Z0-9:.+~-]{0,30}[a-zA-Z0-9+~])?$/;
  const rule =
    'A version is made of 1 to 32 of the characters a-z, A-Z, 0-9, :, ., +, ~ and -, beginning with a letter or digit and ending with a letter, a digit, + or ~.';
  return requiredOf(snap, 'version', (text) => pattern.test(text), rule);
}

function typeOf(snap: Snap, name: string): SnapFacts['type'] {
  // The word of the first snaps for an app.
  const type = valueOf(snap, 'type') === 'application' ? 'app' : oneOf(snap, 'type', snapTypes, 'app');
  // To a device the snap of this name is the daemon itself, whatever it says.
  return name === 'snapd' ? 'snapd' : type;
}

function oneOf<T extends string>(snap: Snap, key: string, words: readonly T[], fallback: T): T {
  const text = textOf(snap, key);
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
  const value = valueOf(snap, 'architectures') ?? [];
  if (!Array.isArray(value)) {
    snap.faults.push(`'architectures' in ${file} must be a list, such as [amd64, arm64].`);
    return [];
  }
  const known = new Set<string>();
  for (const architecture of value) {
    if (typeof architecture === 'string' && /^[a-z0-9][a-z0-9_-]{0,31}$/.test(architecture)) known.add(architecture);
    else {
      const which = typeof architecture === 'string' ? `${quoted(architecture)} is` : 'something else is';
      snap.faults.push(
        `'architectures' in ${file} must list names such as amd64, arm64 or all, but ${which} among them.`,
      );
      break;
    }
  }
  return known.size === 0 ? ['all'] : [...known];
}

function appsOf(snap: Snap): string[] {
  const value = valueOf(snap, 'apps') ?? new Map<Yaml, Yaml>();
  if (!(value instanceof Map)) {
    snap.faults.push(`'apps' in ${file} must be a mapping of the apps' names to what they run.`);
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

/** The components that come to the snap as resources; a snap works without any of them. */
function componentsOf(snap: Snap): Pick<SnapFacts, 'components'> {
  const value = valueOf(snap, 'components') ?? new Map<Yaml, Yaml>();
  if (!(value instanceof Map) || value.size > 100) {
    snap.faults.push(`'components' in ${file} must be a mapping of at most 100 components' names to what they are.`);
    return {};
  }
  const components: DeclaredResource[] = [];
  for (const [name, component] of value) {
    const type = component instanceof Map ? component.get('type') : undefined;
    const word = componentTypes.find((candidate) => candidate === `component/${typeof type === 'string' ? type : ''}`);
    if (typeof name === 'string' && isName(name) && word !== undefined)
      components.push({ name, type: word, optional: true });
    else {
      snap.faults.push(
        `Each of the 'components' in ${file} needs a name like a snap's and a type: test, kernel-modules or standard.`,
      );
      break;
    }
  }
  return components.length === 0 ? {} : { components };
}

const componentTypes = ['component/test', 'component/kernel-modules', 'component/standard'] as const;

/** Text for people: whatever characters, so many of them at most. */
function proseOf(snap: Snap, key: string, most: number): string | null {
  const text = textOf(snap, key);
  if (text === undefined) return null;
  if (text.length > most && Array.from(text).length > most) {
    snap.faults.push(`The ${key} in ${file} has more than ${String(most)} characters: shorten it.`);
  }
  // A device keeps a NUL; the records cannot.
  return text.replaceAll('\0', '\ufffd');
}

/**
 * An epoch is `0`, `N`, `N*` (which also reads N - 1), or a mapping of `read` and `write` to rising lists of numbers that
 * have one in common. It is kept as text.
 */
function epochOf(snap: Snap): string | null {
  const value = valueOf(snap, 'epoch');
  if (value === undefined) return null;
  if (typeof value === 'string' && /^(?:0|[1-9][0-9]{0,8}\*?)$/.test(value)) return value;
  if (value instanceof Map && [...value.keys()].every((key) => key === 'read' || key === 'write')) {
    // Naming one of the two stands for both.
    const read = epochList(value.get('read') ?? value.get('write'));
    const write = epochList(value.get('write') ?? value.get('read'));
    if (read && write && read.some((epoch) => write.includes(epoch))) return JSON.stringify({ read, write });
  }
  snap.faults.push(
    `'epoch' in ${file} must be a number such as 2, a number with a star such as 2*, or rising lists of at most 10 numbers for 'read' and 'write' that have one in common.`,
  );
  return null;
}

function epochList(value: Yaml | undefined): number[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > 10) return undefined;
  const epochs: number[] = [];
  for (const text of value) {
    if (typeof text !== 'string' || !/^(?:0|[1-9][0-9]{0,8})$/.test(text)) return undefined;
    const epoch = Number(text);
    if (epoch <= (epochs.at(-1) ?? -1)) return undefined;
    epochs.push(epoch);
  }
  return epochs;
}
