// Computes the missing dependencies of all releases: packages that devices install with snaps, resources of charms, charms of bundles, and
// snaps of models.
import { parseAssertion } from '#assertions/assertion.ts';
import { Closure, type Missing, type Need } from '#domain/closure.ts';
import type { Namespace } from '#domain/namespace.ts';
import type { Wish } from '#domain/subscription.ts';
import type { HeldRevision, Place } from '#records/held-revisions.ts';
import type { Records } from '#records/index.ts';
import type { RevisionDetails } from '#records/revisions.ts';
import { charmsOfBundle, contentProviders } from '#review/named-in.ts';

const pageSize = 500;

type Reads = Pick<Records, 'heldRevisions' | 'assertions'>;

/** A subscription and its origin. */
export type WishedFor = Wish & { by: string };

export interface Wanted {
  snaps: boolean;
  charms: boolean;
  /** Further packages that must be present. */
  wishes?: readonly WishedFor[];
}

export async function missingHere(records: Reads, { snaps, charms, wishes = [] }: Wanted): Promise<Missing[]> {
  const all: Missing[] = [];
  if (snaps) all.push(...(await missingSnaps(records, wishes)));
  if (charms) all.push(...(await missingOfCharms(records, wishes)));
  return all;
}

function addWishes(closure: Closure, wishes: readonly WishedFor[], of: Namespace): void {
  for (const { namespace, name, channels, architectures, by } of wishes) {
    if (namespace !== of) continue;
    const tracks = new Set(channels.map((channel) => channel.split('/', 1)[0]));
    for (const track of tracks)
      for (const architecture of architectures) closure.need({ kind: 'wish', name, architecture, track, by });
  }
}

async function missingSnaps(records: Reads, wishes: readonly WishedFor[]): Promise<Missing[]> {
  const closure = new Closure();
  addWishes(closure, wishes, 'snap');
  for await (const held of everything('snap', records)) {
    const architecture = held.architecture ?? 'all';
    closure.provide(held.name, architecture, held.channel);
    const needs = needsOfSnap(JSON.parse(held.details) as RevisionDetails, held.packageYaml);
    for (const need of needs) closure.need({ ...need, architecture, by: held.name });
  }
  for (let after = ''; ;) {
    const page = await records.assertions.under('model/', after, pageSize);
    for (const { name, text } of page) needsOfModel(name, text).forEach((need) => closure.need(need));
    if (page.length < pageSize) return closure.missing();
    after = page.at(-1)!.name;
  }
}

/** Returns the snaps that a device installs before this one. */
export function needsOfSnap(details: RevisionDetails, packageYaml: string | null): Pick<Need, 'kind' | 'name'>[] {
  const type = details.type ?? 'app';
  if (type === 'snapd' || type === 'os' || type === 'base') return [];
  const base = details.base ?? (type === 'app' ? 'core' : 'none');
  return [
    ...(base === 'none' ? [] : [{ kind: 'base' as const, name: base }]),
    ...(type === 'app' ? [{ kind: 'snapd' as const, name: 'snapd' }] : []),
    ...contentProviders(packageYaml ?? '').map((name) => ({ kind: 'content provider' as const, name })),
  ];
}

function needsOfModel(name: string, text: string): Need[] {
  const { headers } = parseAssertion(text);
  const architecture = typeof headers['architecture'] === 'string' ? headers['architecture'] : 'all';
  const need = (kind: Need['kind'], said: unknown): Need[] =>
    typeof said === 'string' && said !== '' ? [needOf(kind, said.split('=', 2))] : [];
  const needOf = (kind: Need['kind'], [called = '', track]: string[]): Need => ({
    ...{ kind, name: called, architecture, by: name },
    ...(track !== undefined && { track }),
  });
  const listed = (said: unknown): unknown[] => (Array.isArray(said) ? said : []);
  const snaps = listed(headers['snaps']).map((one) => (one as Record<string, unknown>)['name']);
  return [
    ...need('gadget', headers['gadget']),
    ...need('kernel', headers['kernel']),
    ...need('base', headers['base']),
    ...[...listed(headers['required-snaps']), ...snaps].flatMap((one) => need('snap of a model', one)),
  ];
}

async function missingOfCharms(records: Reads, wishes: readonly WishedFor[]): Promise<Missing[]> {
  const closure = new Closure();
  addWishes(closure, wishes, 'charm');
  for await (const { name, type, channel, architecture, resources, packageYaml } of everything('charm', records)) {
    closure.provide(name, architecture ?? 'all', channel);
    if (type === 'bundle') {
      for (const charm of charmsOfBundle(packageYaml ?? ''))
        closure.need({ kind: 'charm of a bundle', name: charm.name, architecture: 'all', by: name });
      continue;
    }
    for (const resource of JSON.parse(resources) as { name: string; revision: number | null }[]) {
      if (resource.revision !== null) continue;
      const named = `${name}:${resource.name}`;
      closure.need({ kind: 'resource', name: named, architecture: architecture ?? 'all', by: name });
    }
  }
  return closure.missing();
}

async function* everything(namespace: Namespace, { heldRevisions }: Reads): AsyncGenerator<HeldRevision> {
  for (let after: Place = { packageId: '', channel: '', slot: '', progressive: 0 }; ;) {
    const page = await heldRevisions.page(namespace, after, pageSize);
    yield* page;
    if (page.length < pageSize) return;
    after = page.at(-1)!;
  }
}
