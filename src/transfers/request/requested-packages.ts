// Selects the packages of this store that a request asks for.
import type { TransferLeftOut, TransferPackage, TransferRequest } from '#contract/wire.ts';
import { series } from '#assertions/format/types.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { StoreRecords } from '#records/index.ts';
import { needsOfSnap } from '../dependencies.ts';
import type { SelectedHoldings, HoldingSelection } from '../make/holdings.ts';
import type { PackageSelection } from '../make/package-selection.ts';
import type { ParsedRequest } from './request-file.ts';

/** By `namespace/name`. */
export type RequestedPackages = Map<string, PackageSelection>;

/** Returns the subscriptions of a request, its missing packages, and contents lost in transit. */
function requestedPackagesOf({ subscriptions, missing, lost }: TransferRequest): RequestedPackages {
  const requested: RequestedPackages = new Map();
  for (const { namespace, name, channels, architectures } of subscriptions) {
    requested.set(`${namespace}/${name}`, { channels: new Set(channels), architectures: new Set(architectures) });
  }
  for (const { namespace, name, architecture } of missing) {
    const called = `${namespace}/${name.split(':')[0] ?? ''}`;
    const before = requested.get(called);
    const all = architecture === 'all' || (before !== undefined && before.architectures === undefined);
    requested.set(called, {
      channels: before?.channels ?? new Set(['latest/stable']),
      ...(!all && { architectures: new Set([...(before?.architectures ?? []), architecture]) }),
    });
  }
  for (const lostContent of lost) if (!requested.has(lostContent.package)) requested.set(lostContent.package, {});
  return requested;
}

/** Returns the requested packages of this store with their dependencies. Lists unavailable ones among those left out. */
export async function selectRequested(
  request: TransferRequest,
  records: Pick<StoreRecords, 'packages' | 'revisions' | 'requests'>,
  hold: (more: Pick<HoldingSelection, 'requested' | 'assertions'>) => Promise<SelectedHoldings>,
): Promise<SelectedHoldings> {
  const requested = requestedPackagesOf(request);
  const all = new Map(requested);
  const assertions = answersTo(request);
  for (;;) {
    const held = await hold({ requested: all, assertions });
    const more = await foundations(records, held.packages, { request, requested: all });
    if (more.size === 0) return { ...held, leftOut: [...held.leftOut, ...unmet(requested, held.packages)] };
    for (const [name, selection] of more) all.set(name, selection);
  }
}

/** Returns the names of the assertions that answer the key requests and declaration changes in the request. */
const answersTo = ({ 'key-requests': keys, provenance }: TransferRequest): string[] => [
  ...keys.map(({ key }) => `account-key/${key}`),
  ...provenance.map(({ id }) => `snap-declaration/${series}/${id}`),
];

/** Returns the requested packages that this store cannot provide. */
function unmet(requested: RequestedPackages, packages: Sequence<TransferPackage>): TransferLeftOut[] {
  const channelCounts = new Map(
    packages.values().map((entry) => [`${entry.namespace}/${entry.name}`, entry.channels.length]),
  );
  return [...requested.keys()].sort().flatMap((subject) => {
    const channels = channelCounts.get(subject);
    if (channels === undefined)
      return [{ what: subject, why: 'It was requested, but there is no public package with this name here.' }];
    return channels > 0 ? [] : [{ what: subject, why: 'It was requested, but no channel here holds it.' }];
  });
}

/**
 * Returns the dependencies of the transferred snaps (bases, snapd, content providers) that this store has, the transfer lacks and the site
 * does not have in any revision. Devices can then use the first transfer on its own.
 */
async function foundations(
  { packages, revisions, requests }: Pick<StoreRecords, 'packages' | 'revisions' | 'requests'>,
  carried: Sequence<TransferPackage>,
  { request, requested }: { request: TransferRequest; requested: RequestedPackages },
): Promise<RequestedPackages> {
  const siteContents = new Set(request.inventory.contents);
  const needed = new Set<string>();
  for (const { id, namespace, revisions: some } of carried) {
    if (namespace !== 'snap') continue;
    for (const { revision } of some) {
      const stored = await revisions.forDevices(id, revision);
      if (stored === undefined) continue;
      for (const { name } of needsOfSnap(stored.details, stored.packageYaml)) needed.add(name);
    }
  }
  const more: RequestedPackages = new Map();
  const architectures = new Set([...requested.values()].flatMap((selection) => [...(selection.architectures ?? [])]));
  for (const name of [...needed].sort()) {
    const subject = requested.has(`snap/${name}`) ? undefined : await packages.find('snap', name);
    if (subject === undefined || subject.private) continue;
    if ((await requests.contentsOf([subject.id])).some((content) => siteContents.has(content))) continue;
    more.set(`snap/${name}`, {
      channels: new Set([`${subject.defaultTrack ?? 'latest'}/stable`]),
      ...(architectures.size > 0 && { architectures }),
    });
  }
  return more;
}

/** Refuses a request if this store knows the site by other keys. */
export async function refuseStranger(
  { transferSources }: Pick<StoreRecords, 'transferSources'>,
  { statement: { site }, signers }: ParsedRequest,
): Promise<{ isKnown: boolean }> {
  const trustedSource = await transferSources.find(site);
  if (trustedSource === undefined) return { isKnown: false };
  if (signers.some((key) => trustedSource.keys.includes(key))) return { isKnown: true };
  throw new Refusal(
    'conflict',
    `The request names '${site}' as its site, but no trusted key of '${site}' has signed it.`,
  );
}
