// Determines the prerequisites of assertions: the assertions that the store or a device needs before it can trust one.
import { NameIndex } from '#domain/name-index.ts';
import { parseAssertion, type Assertion } from './format/assertion.ts';
import { nameOf, series } from './format/types.ts';

/** Types that are useful without a package, so a transfer may contain them on their own. */
export const standingTypes = ['account', 'account-key', 'confdb-schema', 'model', 'store', 'validation-set'] as const;

/**
 * Returns the names of the direct prerequisites: the account-key of the signer, and the accounts and declarations that the assertion
 * refers to.
 */
export function prerequisitesOf({ type, headers, signKeyId }: Assertion): string[] {
  const readHeader = (name: string): string[] => (typeof headers[name] === 'string' ? [headers[name]] : []);
  const accounts = (name: string): string[] => readHeader(name).map((id) => `account/${id}`);
  // Assertions without an authority are signed by the key they contain.
  const signer = Object.hasOwn(headers, 'authority-id') ? [`account-key/${signKeyId}`] : [];
  const modelsOf = (models: readonly string[]): string[] =>
    headers['authority-id'] === headers['brand-id']
      ? []
      : models.flatMap((model) => readHeader('brand-id').map((brand) => `model/${series}/${brand}/${model}`));
  switch (type) {
    case 'account-key':
    case 'account-key-request':
      return [...accounts('account-id'), ...signer];
    case 'store':
      return [...accounts('operator-id'), ...signer];
    case 'snap-declaration':
      return [...accounts('publisher-id'), ...signer];
    case 'snap-revision':
    case 'snap-resource-revision':
    case 'snap-resource-pair':
      return [
        ...readHeader('snap-id').map((id) => `snap-declaration/${series}/${id}`),
        ...accounts('developer-id'),
        ...signer,
      ];
    case 'serial':
    case 'preseed':
      return [...modelsOf(readHeader('model')), ...signer];
    case 'system-user': {
      const { models } = headers;
      const names = Array.isArray(models) ? models.filter((model) => typeof model === 'string') : [];
      return [...modelsOf(names), ...signer];
    }
    default:
      return signer;
  }
}

/**
 * Returns an assertion after all its stored prerequisites, so that a device can verify them in order: each prerequisite comes before the
 * assertions that need it. Leaves out the trusted roots, which every device has.
 *
 * @param find returns the stored assertions with these names
 */
export async function withPrerequisites(
  assertion: Assertion,
  find: (names: string[]) => Promise<readonly { text: string }[]>,
): Promise<Assertion[]> {
  const stored = await loadPrerequisites(prerequisitesOf(assertion), find);
  const byName = new Map(stored.map((prerequisite) => [nameOf(prerequisite), prerequisite]));
  return inOrder(assertion, (name) => byName.get(name));
}

/** The number of texts that are read into memory together. */
const page = 500;

/** Returns the stored assertions of these names and all their prerequisites. */
export async function loadPrerequisites(
  names: Iterable<string>,
  find: (names: string[]) => Promise<readonly { text: string }[]>,
): Promise<Assertion[]> {
  const all: Assertion[] = [];
  for await (const { assertion } of eachPrerequisite(names, find)) all.push(assertion);
  return all;
}

/**
 * Like `loadPrerequisites`, but yields the assertions one by one with the names of their prerequisites. Memory holds little more than the requested
 * names.
 */
export async function* eachPrerequisite(
  names: Iterable<string>,
  find: (names: string[]) => Promise<readonly { text: string }[]>,
): AsyncGenerator<{ assertion: Assertion; needs: string[] }> {
  const requested = new NameIndex();
  for (let pending = names; ;) {
    const needed = new Set<string>();
    for (const some of pages(takeUnrequested(pending, requested))) {
      for (const { text } of await find(some)) {
        const assertion = parseAssertion(text);
        const needs = prerequisitesOf(assertion);
        for (const name of needs) if (!requested.has(name)) needed.add(name);
        yield { assertion, needs };
      }
    }
    if (needed.size === 0) return;
    pending = needed;
  }
}

function* takeUnrequested(names: Iterable<string>, requested: NameIndex): Generator<string> {
  for (const name of names) {
    const before = requested.size;
    if (requested.add(name) === before) yield name;
  }
}

function* pages(names: Iterable<string>): Generator<string[]> {
  let some: string[] = [];
  for (const name of names) {
    some.push(name);
    if (some.length < page) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** Returns an assertion after all prerequisites that `find` returns. Each prerequisite comes before the assertions that need it. */
export function inOrder(assertion: Assertion, find: (name: string) => Assertion | undefined): Assertion[] {
  const own = nameOf(assertion);
  const findIncludingOwn = (name: string): Assertion | undefined => (name === own ? assertion : find(name));
  const names = namesInOrder([own], (name) => {
    const prerequisite = findIncludingOwn(name);
    return prerequisite && prerequisitesOf(prerequisite);
  });
  return names.map((name) => findIncludingOwn(name)!);
}

/**
 * Orders names so that each follows its prerequisites and occurs once.
 *
 * @param needs returns the prerequisites of a name; undefined if there is no such assertion, which omits the name
 */
export function namesInOrder(
  names: Iterable<string>,
  needs: (name: string) => readonly string[] | undefined,
): string[] {
  const ordered: string[] = [];
  const begun = new Set<string>();
  const place = (name: string): void => {
    if (begun.has(name)) return;
    begun.add(name);
    const needed = needs(name);
    if (needed === undefined) return;
    needed.forEach(place);
    ordered.push(name);
  };
  for (const name of names) place(name);
  return ordered;
}
