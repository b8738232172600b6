// Parses the names of packages on command lines.
import { isNamespace, namespaces, type PackageNamespace } from '#domain/packages/namespace.ts';
import { nameProblem } from '#domain/packages/package-name.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import { nearest } from '#domain/nearest.ts';
import { UsageError } from '../frame/command.ts';

/** The argument that names a package. */
export const packageArgument = {
  name: 'package',
  value: 'NAMESPACE/NAME',
  summary: 'The package, such as snap/hello.',
} as const;

/** Maximum number of names that are searched for a similar one. */
const maxNamesCompared = 20_000;

interface PackageAccountCall {
  positionals: { package: string; account: string };
}

/** Confirmation before an account loses its access to a package. */
export const accessLossConfirmation = {
  question: ({ positionals: { package: packageText, account } }: PackageAccountCall): string =>
    `From the next request on the account ${account} loses its access to ${packageText}.`,
  unattended: 'refused',
} as const;

/** Confirmation before the publisher of a package changes. */
export const publisherChangeConfirmation = {
  question: ({ positionals: { package: packageText, account } }: PackageAccountCall): string =>
    `The package ${packageText} belongs to the account ${account} from the next request on. Its old publisher loses access.`,
  unattended: 'refused',
} as const;

/** Finds the package that an argument names; refuses an unknown one. */
export async function findPackage(
  records: { packages: Pick<StoreRecords['packages'], 'find' | 'names'> },
  text: string,
): Promise<PublishedPackage> {
  const { namespace, name } = parsePackageName(text);
  const subject = await records.packages.find(namespace, name);
  if (subject !== undefined) return subject;
  const names = (await records.packages.names(maxNamesCompared)).map((entry) => `${entry.namespace}/${entry.name}`);
  const meant = names.find((full) => full.endsWith(`/${name}`)) ?? nearest(`${namespace}/${name}`, names);
  const hint = meant === undefined ? " 'larder package list' lists them." : ` Did you mean ${meant}?`;
  throw new Refusal('resource-not-found', `There is no package ${namespace}/${name}.${hint}`);
}

/** Parses NAMESPACE/NAME. */
export function parsePackageName(text: string): { namespace: PackageNamespace; name: string } {
  const [namespace = '', name] = text.split(/\/(.*)/s);
  if (name === undefined) throw new UsageError(`a package is named NAMESPACE/NAME, such as snap/hello, not '${text}'`);
  if (!isNamespace(namespace)) {
    const meant = nearest(namespace, namespaces);
    const hint = meant === undefined ? `; there is ${namespaces.join(', ')}` : `; did you mean '${meant}'?`;
    throw new UsageError(`there is no namespace '${namespace}'${hint}`);
  }
  const problem = nameProblem(name);
  if (problem !== undefined) throw new UsageError(problem);
  return { namespace, name };
}
