// Computes the missing dependencies of all releases: packages that devices install with snaps, resources of charms, charms of bundles, and
// snaps of models.
import { parseAssertion } from '#assertions/format/assertion.ts';
import { Closure, type UnmetNeed, type PackageNeed } from '#domain/transfers/closure.ts';
import type { PackageNamespace } from '#domain/packages/namespace.ts';
import type { PackageSubscription } from '#domain/sites/subscription.ts';
import type { ChannelRevision, SlotKey } from '#records/releases/channel-revisions.ts';
import type { StoreRecords } from '#records/index.ts';
import type { RevisionDetails } from '#records/revisions/revisions.ts';
import { listBundleCharms, findContentProviders } from '#review/named-packages.ts';

const pageSize = 500;

type DependencyRecords = Pick<StoreRecords, 'heldRevisions' | 'assertions'>;

/** A subscription and its origin. */
export type RequiredPackage = PackageSubscription & { origin: string };

export interface DependencyScope {
  snaps: boolean;
  charms: boolean;
  /** Further packages that must be present. */
  required?: readonly RequiredPackage[];
}

export async function missingHere(
  records: DependencyRecords,
  { snaps, charms, required = [] }: DependencyScope,
): Promise<UnmetNeed[]> {
  const all: UnmetNeed[] = [];
  if (snaps) all.push(...(await missingSnaps(records, required)));
  if (charms) all.push(...(await missingOfCharms(records, required)));
  return all;
}

function addRequired(closure: Closure, required: readonly RequiredPackage[], of: PackageNamespace): void {
  for (const { namespace, name, channels, architectures, origin } of required) {
    if (namespace !== of) continue;
    const tracks = new Set(channels.map((channel) => channel.split('/', 1)[0]));
    for (const track of tracks)
      for (const architecture of architectures)
        closure.need({ kind: 'wish', name, architecture, track, neededBy: origin });
  }
}

async function missingSnaps(records: DependencyRecords, required: readonly RequiredPackage[]): Promise<UnmetNeed[]> {
  const closure = new Closure();
  addRequired(closure, required, 'snap');
  for await (const held of iterateHeldRevisions('snap', records)) {
    const architecture = held.architecture ?? 'all';
    closure.provide(held.name, architecture, held.channel);
    const needs = needsOfSnap(JSON.parse(held.details) as RevisionDetails, held.packageYaml);
    for (const need of needs) closure.need({ ...need, architecture, neededBy: held.name });
  }
  for (let after = ''; ;) {
    const page = await records.assertions.under('model/', after, pageSize);
    for (const { name, text } of page) needsOfModel(name, text).forEach((need) => closure.need(need));
    if (page.length < pageSize) return closure.missing();
    after = page.at(-1)!.name;
  }
}

/** Returns the snaps that this snap needs: its base, snapd, and the default providers of its content interfaces. */
export function needsOfSnap(
  details: RevisionDetails,
  packageYaml: string | null,
): Pick<PackageNeed, 'kind' | 'name'>[] {
  const type = details.type ?? 'app';
  if (type === 'snapd' || type === 'os' || type === 'base') return [];
  const base = details.base ?? (type === 'app' ? 'core' : 'none');
  return [
    ...(base === 'none' ? [] : [{ kind: 'base' as const, name: base }]),
    ...(type === 'app' ? [{ kind: 'snapd' as const, name: 'snapd' }] : []),
    ...findContentProviders(packageYaml ?? '').map((name) => ({ kind: 'content provider' as const, name })),
  ];
}

function needsOfModel(name: string, text: string): PackageNeed[] {
  const { headers } = parseAssertion(text);
  const architecture = typeof headers['architecture'] === 'string' ? headers['architecture'] : 'all';
  const need = (kind: PackageNeed['kind'], value: unknown): PackageNeed[] =>
    typeof value === 'string' && value !== '' ? [needOf(kind, value.split('=', 2))] : [];
  const needOf = (kind: PackageNeed['kind'], [called = '', track]: string[]): PackageNeed => ({
    kind,
    name: called,
    architecture,
    neededBy: name,
    ...(track !== undefined && { track }),
  });
  const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  const snaps = listed(headers['snaps']).map((snap) => (snap as Record<string, unknown>)['name']);
  return [
    ...need('gadget', headers['gadget']),
    ...need('kernel', headers['kernel']),
    ...need('base', headers['base']),
    ...[...listed(headers['required-snaps']), ...snaps].flatMap((required) => need('snap of a model', required)),
  ];
}

async function missingOfCharms(records: DependencyRecords, required: readonly RequiredPackage[]): Promise<UnmetNeed[]> {
  const closure = new Closure();
  addRequired(closure, required, 'charm');
  for await (const { name, type, channel, architecture, resources, packageYaml } of iterateHeldRevisions(
    'charm',
    records,
  )) {
    closure.provide(name, architecture ?? 'all', channel);
    if (type === 'bundle') {
      for (const charm of listBundleCharms(packageYaml ?? ''))
        closure.need({ kind: 'charm of a bundle', name: charm.name, architecture: 'all', neededBy: name });
      continue;
    }
    for (const resource of JSON.parse(resources) as { name: string; revision: number | null }[]) {
      if (resource.revision !== null) continue;
      const resourceName = `${name}:${resource.name}`;
      closure.need({ kind: 'resource', name: resourceName, architecture: architecture ?? 'all', neededBy: name });
    }
  }
  return closure.missing();
}

async function* iterateHeldRevisions(
  namespace: PackageNamespace,
  { heldRevisions }: DependencyRecords,
): AsyncGenerator<ChannelRevision> {
  for (let after: SlotKey = { packageId: '', channel: '', slot: '', progressive: 0 }; ;) {
    const page = await heldRevisions.page(namespace, after, pageSize);
    yield* page;
    if (page.length < pageSize) return;
    after = page.at(-1)!;
  }
}
