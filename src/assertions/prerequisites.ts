// What an assertion rests on, by name: what must be known before it can be believed, here and on a device.
import { parseAssertion, type Assertion } from './assertion.ts';
import { nameOf, series } from './types.ts';

/** The names of what an assertion rests on: the key that signed it, the accounts and declarations it speaks of. */
export function restsOn({ type, headers, signKeyId }: Assertion): string[] {
  const named = (name: string): string[] => (typeof headers[name] === 'string' ? [headers[name]] : []);
  const accounts = (name: string): string[] => named(name).map((id) => `account/${id}`);
  // Nobody vouches for these but the key that they carry.
  const signer = Object.hasOwn(headers, 'authority-id') ? [`account-key/${signKeyId}`] : [];
  const modelsOf = (models: readonly string[]): string[] =>
    headers['authority-id'] === headers['brand-id']
      ? []
      : models.flatMap((model) => named('brand-id').map((brand) => `model/${series}/${brand}/${model}`));
  switch (type) {
    case 'account-key':
    case 'account-key-request':
      return [...accounts('account-id'), ...signer];
    case 'store':
      return [...accounts('operator-id'), ...signer];
    case 'snap-declaration':
      return [...accounts('publisher-id'), ...signer];
    case 'snap-revision':
      return [
        ...named('snap-id').map((id) => `snap-declaration/${series}/${id}`),
        ...accounts('developer-id'),
        ...signer,
      ];
    case 'serial':
    case 'preseed':
      return [...modelsOf(named('model')), ...signer];
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
 * An assertion with everything it rests on as far as that is kept, each after what it rests on itself, up to the
 * roots, which every device has.
 *
 * @param find the kept assertions of these names
 */
export async function withPrerequisites(
  assertion: Assertion,
  find: (names: string[]) => Promise<readonly { text: string }[]>,
): Promise<Assertion[]> {
  const chain = new Map([[nameOf(assertion), assertion]]);
  const asked = new Set(chain.keys());
  for (let wanted = restsOn(assertion); wanted.length > 0;) {
    wanted.forEach((name) => asked.add(name));
    const found = (await find(wanted)).map(({ text }) => parseAssertion(text));
    for (const one of found) chain.set(nameOf(one), one);
    wanted = [...new Set(found.flatMap(restsOn))].filter((name) => !asked.has(name));
  }
  return inOrder([...chain.values()]);
}

/** Each after those of them that it rests on. */
function inOrder(assertions: readonly Assertion[]): Assertion[] {
  const byName = new Map(assertions.map((one) => [nameOf(one), one]));
  const begun = new Set<Assertion>();
  const ordered: Assertion[] = [];
  const place = (one: Assertion): void => {
    if (begun.has(one)) return;
    begun.add(one);
    for (const prerequisite of restsOn(one).flatMap((name) => byName.get(name) ?? [])) place(prerequisite);
    ordered.push(one);
  };
  for (const one of assertions) place(one);
  return ordered;
}
