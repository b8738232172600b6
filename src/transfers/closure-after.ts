// Computes the missing dependencies after a transfer is accepted: packages that its releases need and that neither the transfer nor the
// site has.
import type { PackagePlan, Plan, Planning } from '#acts/transfer-planning.ts';
import { subjectOf } from '#acts/transfer-planning.ts';
import { Closure, type Missing } from '#domain/closure.ts';
import type { Records } from '#records/index.ts';
import type { RevisionDetails } from '#records/revisions.ts';
import type { Findings } from '#records/uploads.ts';
import { charmsOfBundle } from '#review/named-in.ts';
import { needsOfSnap } from './closure.ts';

type Reads = Pick<Records, 'packages' | 'releases' | 'revisions'>;

export async function missingAfter(
  records: Reads,
  { packages }: Pick<Plan, 'packages'>,
  finding: Planning['finding'],
): Promise<Missing[]> {
  const missing: Missing[] = [];
  for (const namespace of ['snap', 'charm'] as const) {
    const closure = new Closure();
    const needed = new Set<string>();
    for (const one of packages.values().filter(({ carried }) => carried.namespace === namespace)) {
      for (const name of await addNeeds(closure, one, { records, finding })) needed.add(name);
    }
    for (const name of needed) {
      const here = await records.packages.find(namespace, name);
      for (const held of here === undefined ? [] : await records.releases.held(here.id))
        closure.provide(name, held.architecture ?? 'all', held.channel);
    }
    missing.push(...closure.missing());
  }
  return missing;
}

interface Known {
  records: Reads;
  finding: Planning['finding'];
}

/** Adds the releases of a package and their dependencies to the closure. Returns the names of the dependencies. */
async function addNeeds(closure: Closure, { carried, releases }: PackagePlan, known: Known): Promise<string[]> {
  const { name, namespace } = carried;
  const needed: string[] = [];
  for (const { release } of releases) {
    const architecture = release.architecture ?? 'all';
    closure.provide(name, architecture, release.channel);
    const found = await saidOf(carried.id, release.revision, known);
    if (found === undefined) continue;
    if (namespace === 'snap') {
      for (const need of needsOfSnap(found.details, found.packageYaml)) {
        closure.need({ ...need, architecture, by: name });
        needed.push(need.name);
      }
      continue;
    }
    for (const { name: charm } of carried.type === 'bundle' ? charmsOfBundle(found.packageYaml ?? '') : []) {
      closure.need({ kind: 'charm of a bundle', name: charm, architecture: 'all', by: name });
      needed.push(charm);
    }
    for (const resource of release.resources ?? []) {
      if (resource.revision !== null) continue;
      closure.need({ kind: 'resource', name: `${name}:${resource.name}`, architecture, by: name });
    }
  }
  return needed;
}

/** Returns the metadata of a revision, from its review in this transfer or from the store. */
async function saidOf(
  id: string,
  revision: number,
  { records, finding }: Known,
): Promise<{ details: RevisionDetails; packageYaml: string | null } | undefined> {
  const found = (await finding(subjectOf(id, revision)))?.findings;
  if (found === undefined || found === null) {
    const here = await records.revisions.forDevices(id, revision);
    return here && { details: here.details, packageYaml: here.packageYaml };
  }
  const said = JSON.parse(found) as Findings;
  return said.kind === 'revision' ? { details: said.details, packageYaml: said.packageYaml } : undefined;
}
