// Parses and formats subscriptions.
import { parseSubscribedPackage, type Architecture, type PackageSubscription } from '#domain/sites/subscription.ts';
import { UsageError } from '../frame/command.ts';

/** Parses `snap/hello`. */
export function parseSubscription(text: string): Pick<PackageSubscription, 'namespace' | 'name'> {
  const subscribed = parseSubscribedPackage(text);
  if (subscribed !== undefined) return subscribed;
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
