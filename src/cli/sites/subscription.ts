// Parses and formats subscriptions.
import { isNamespace } from '#domain/packages/namespace.ts';
import type { Architecture, PackageSubscription } from '#domain/sites/subscription.ts';
import { UsageError } from '../frame/command.ts';

/** Parses `snap/hello`. */
export function parseSubscription(text: string): Pick<PackageSubscription, 'namespace' | 'name'> {
  const [namespace = '', name = '', more] = text.split('/');
  const isName = /^[a-z0-9](?:[a-z0-9.+-]{0,126}[a-z0-9])?$/.test(name);
  if (isNamespace(namespace) && isName && more === undefined) return { namespace, name };
  throw new UsageError(`'${text.slice(0, 200)}' is not a package; write it as snap/hello`);
}

/** `snap/hello latest/stable (amd64)`. */
export const formatSubscription = ({ namespace, name, channels, architectures }: PackageSubscription): string =>
  `${namespace}/${name} ${channels.join(', ')} (${architectures.join(', ')})`;

/** The architecture of this host, the default of subscriptions. */
export function hostArchitecture(): Architecture {
  const architecture = new Map<string, Architecture>([
    ['x64', 'amd64'],
    ['arm64', 'arm64'],
  ]).get(process.arch);
  if (architecture === undefined) throw new UsageError('name the architecture with --architecture');
  return architecture;
}
