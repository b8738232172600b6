// The grammar of package names, and names that conflict with addresses.
import type { PackageNamespace } from './namespace.ts';

/** The problem with a name, or undefined: 2 to 40 of a-z, 0-9 and single inner dashes, with at least one letter. */
export function nameProblem(name: string): string | undefined {
  if (name.length < 2 || name.length > 40)
    return `A package name has 2 to 40 characters; '${name.slice(0, 60)}' has ${name.length}.`;
  if (!/^[a-z0-9-]+$/.test(name))
    return `The package name '${name}' may hold only lower-case letters, digits and dashes.`;
  if (!/[a-z]/.test(name)) return `The package name '${name}' needs at least one letter.`;
  if (name.startsWith('-') || name.endsWith('-')) return `The package name '${name}' may not begin or end with a dash.`;
  if (name.includes('--')) return `The package name '${name}' may not hold two dashes in a row.`;
  return undefined;
}

/**
 * Path segments in the place of a package's name, in addresses of this store or of common web front ends. A package
 * with such a name could not be reached at all of its addresses, or would be mistaken for something else.
 */
export const addressWords: Partial<Record<PackageNamespace, readonly string[]>> = {
  charm: ['bulk', 'libraries'],
  snap: ['featured'],
};
