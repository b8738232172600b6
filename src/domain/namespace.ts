// Namespaces, and the package types of each.

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

/** The type of a name that is registered without one. */
export const defaultType = (namespace: Namespace): PackageType => typesOf[namespace][0];
