// Computes the missing dependencies after a transfer is accepted: packages that its releases need and that neither the transfer nor the
// site has.
import type { PackagePlan, TransferPlan } from '#acts/transfers/plan-types.ts';
import { parseFindings, subjectOf } from '#acts/transfers/findings.ts';
import { Closure, type UnmetNeed } from '#domain/transfers/closure.ts';
import type { StoreRecords } from '#records/index.ts';
import { listBundleCharms } from '#review/named-packages.ts';
import { needsOfSnap } from '../dependencies.ts';

type PlannedDependencyRecords = Pick<StoreRecords, 'packages' | 'releases' | 'revisions'>;

export async function findMissingAfterAcceptance(
  records: PlannedDependencyRecords,
  { packages, finding }: Pick<TransferPlan, 'packages' | 'finding'>,
): Promise<UnmetNeed[]> {
  const missing: UnmetNeed[] = [];
  for (const namespace of ['snap', 'charm'] as const) {
    const closure = new Closure();
    const needed = new Set<string>();
    for (const plan of packages.values().filter(({ carried }) => carried.namespace === namespace)) {
      for (const name of await addNeeds(closure, plan, { records, finding })) needed.add(name);
    }
    for (const name of needed) {
      const existing = await records.packages.find(namespace, name);
      for (const held of existing === undefined ? [] : await records.releases.held(existing.id))
        closure.provide(name, held.architecture ?? 'all', held.channel);
    }
    missing.push(...closure.missing());
  }
  return missing;
}

interface PlannedDependencyContext extends Pick<TransferPlan, 'finding'> {
  records: PlannedDependencyRecords;
}

/** Adds the releases of a package and their dependencies to the closure. Returns the names of the dependencies. */
async function addNeeds(
  closure: Closure,
  { carried, releases }: PackagePlan,
  { records, finding }: PlannedDependencyContext,
): Promise<string[]> {
  const { name, namespace } = carried;
  const needed: string[] = [];
  for (const { release } of releases) {
    const architecture = release.architecture ?? 'all';
    closure.provide(name, architecture, release.channel);
    const metadata =
      parseFindings('revision', await finding(subjectOf(carried.id, release.revision))) ??
      (await records.revisions.forDevices(carried.id, release.revision));
    if (metadata === undefined) continue;
    if (namespace === 'snap') {
      for (const need of needsOfSnap(metadata.details, metadata.packageYaml)) {
        closure.need({ ...need, architecture, neededBy: name });
        needed.push(need.name);
      }
      continue;
    }
    for (const { name: charm } of carried.type === 'bundle' ? listBundleCharms(metadata.packageYaml ?? '') : []) {
      closure.need({ kind: 'charm of a bundle', name: charm, architecture: 'all', neededBy: name });
      needed.push(charm);
    }
    for (const resource of release.resources ?? []) {
      if (resource.revision !== null) continue;
      closure.need({ kind: 'resource', name: `${name}:${resource.name}`, architecture, neededBy: name });
    }
  }
  return needed;
}
