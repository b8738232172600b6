// Namespaces, and the package types of each.

const typesOf = {
  bin: ['bin'],
  charm: ['charm', 'bundle'],
  snap: ['snap'],
  rock: ['rock'],
  sdk: ['sdk'],
  source: ['rockcraft', 'snapcraft', 'charmcraft', 'sourcecraft'],
} as const;

export type PackageNamespace = keyof typeof typesOf;
export type PackageType = (typeof typesOf)[PackageNamespace][number];

export const namespaces = Object.keys(typesOf) as PackageNamespace[];

export const isNamespace = (text: string): text is PackageNamespace => Object.hasOwn(typesOf, text);

export const packageTypes = (namespace: PackageNamespace): readonly PackageType[] => typesOf[namespace];

/** The type of a name that is registered without one. */
export const defaultType = (namespace: PackageNamespace): PackageType => typesOf[namespace][0];
