// Namespaces of the bakery: the prefix of each schema's conditions within a macaroon. Their text form is `std:
// other:x`.

/** Prefixes by schema URI. */
export type BakeryNamespace = ReadonlyMap<string, string>;

export const standardSchema = 'std';

/** The namespace of macaroons before version 3: standard conditions without a prefix. */
export const standardNamespace: BakeryNamespace = new Map([[standardSchema, '']]);

export function namespaceText(namespace: BakeryNamespace): string {
  const entries = [...namespace].map(([uri, prefix]) => {
    if (!/^\S+$/.test(uri) || !/^[^\s:]*$/.test(prefix)) throw new Error('cannot write a namespace with a space in it');
    return { uri: Buffer.from(uri), text: `${uri}:${prefix}` };
  });
  return entries
    .sort((entry, other) => Buffer.compare(entry.uri, other.uri))
    .map(({ text }) => text)
    .join(' ');
}

export function readNamespace(text: string): BakeryNamespace | undefined {
  const namespace = new Map<string, string>();
  for (const entry of text.split(/\s+/).filter((part) => part !== '')) {
    const colon = entry.lastIndexOf(':');
    const uri = entry.slice(0, colon);
    if (colon < 1 || namespace.has(uri)) return undefined;
    namespace.set(uri, entry.slice(colon + 1));
  }
  return namespace;
}

/** Writes a condition for a macaroon with this namespace; undefined if the namespace lacks the schema. */
export function conditionIn(
  namespace: BakeryNamespace,
  condition: string,
  schema = standardSchema,
): string | undefined {
  const prefix = namespace.get(schema);
  if (prefix === undefined) return undefined;
  return prefix === '' ? condition : `${prefix}:${condition}`;
}
