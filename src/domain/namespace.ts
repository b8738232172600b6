// Namespaces and the types of package that live in each.

const typesOf = {
  bin: ['bin'],
  charm: ['charm', 'bundle'],
  snap: ['snap'],
  rock: ['rock'],
  sdk: ['sdk'],
  source: ['rockcraft', 'snapcraft', 'charmcraft', 'sourcecraft'],
} as const;

export type Namespace = keyof typeof typesOf;
export type PackageType = (typeof typesOf)[Namespace][number];

export const namespaces = Object.keys(typesOf) as Namespace[];

export const isNamespace = (text: string): text is Namespace => Object.hasOwn(typesOf, text);

export const packageTypes = (namespace: Namespace): readonly PackageType[] => typesOf[namespace];

/** The type a name gets when its registration names none. */
export const defaultType = (namespace: Namespace): PackageType => typesOf[namespace][0];
