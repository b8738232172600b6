// The grammar of package names, and those among them that stand in addresses.
import type { Namespace } from './namespace.ts';

/** Says what is wrong with a name, or nothing: 2 to 40 of a-z, 0-9 and single inner dashes, with a letter among them. */
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
 * Words that stand where a package's name would, in addresses of this store or in those that web front ends of this field
 * ask for: a package of that name could not be reached at all of its addresses, or would be taken for something else.
 */
export const addressWords: Partial<Record<Namespace, readonly string[]>> = {
  charm: ['bulk', 'libraries'],
  snap: ['featured'],
};
