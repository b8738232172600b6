// Which assertions of a transfer come in: what its revisions rest on, and what says something without a package.
import type { Assertion } from '#assertions/assertion.ts';
import { restsOn } from '#assertions/prerequisites.ts';
import { nameOf } from '#assertions/types.ts';
import { fitsGlob } from '#domain/package-glob.ts';
import type { Plan, Planning, PlanRecords } from './transfer-planning.ts';

/** Adds to a plan the assertions that come in with it; called when all of its packages are planned. */
export async function planAssertions(records: PlanRecords, planning: Planning, plan: Plan): Promise<void> {
  const fresh = new Map(planning.fresh.map((one) => [nameOf(one), one]));
  const here = new Map((await records.assertions.listOf([...fresh.keys()])).map((one) => [one.name, one]));
  const revised = [
    ...plan.packages.values().flatMap(({ revisions }) => revisions.flatMap(({ assertion }) => assertion ?? [])),
  ];
  const coming = new Set<string>();
  const bring = (name: string): void => {
    const one = fresh.get(name);
    if (one === undefined || coming.has(name)) return;
    coming.add(name);
    restsOn(one).forEach(bring);
  };
  revised.forEach(bring);
  // What is new here and vouches for a revision goes without saying, as the revision is told.
  const untold = new Set([...coming].filter((name) => !here.has(name)));
  const packages = new Map(
    plan.packages.values().map(({ carried }) => [carried.id, `${carried.namespace}/${carried.name}`]),
  );
  const carried = new Set(planning.statement.packages.values().map(({ id }) => id));
  const alone: { name: string; of: string; why: string }[] = [];
  for (const [name, one] of fresh) {
    const { 'snap-id': id } = one.headers;
    const isOfPackage = typeof id === 'string' && carried.has(id);
    const of = isOfPackage ? packages.get(id) : `assertion/${one.type}`;
    // Those of a package that stays out stay out with it.
    if (of === undefined) continue;
    const why = isOfPackage ? undefined : whyNot(planning, one);
    if (why === undefined) bring(name);
    else alone.push({ name, of, why });
  }
  for (const { name, of, why } of alone.filter((one) => !coming.has(one.name)))
    plan.leftOut.push({ package: of, what: name, why });
  for (const name of fresh.keys()) if (!coming.has(name)) fresh.delete(name);
  plan.assertions = [...fresh.values()];
  for (const [name, one] of fresh) {
    if (untold.has(name)) continue;
    const before = here.get(name);
    plan.lines.add({
      package: packages.get(one.headers['snap-id'] as string) ?? `assertion/${one.type}`,
      ...{ kind: 'assertion', what: name, from: before === undefined ? null : `revision ${String(before.revision)}` },
      ...{ to: `revision ${String(one.revision)}`, word: 'upstream' },
      notes: before?.origin === 'signed' ? ['what was signed here gives way'] : [],
    });
  }
}

function whyNot({ source, statement, only, without }: Planning, { type }: Assertion): string | undefined {
  const called = { namespace: 'assertion', name: type };
  if (!fitsGlob(source.packages, called)) return `'${statement.source}' may bring ${source.packages.join(', ')}.`;
  const isWanted = (only.length === 0 || fitsGlob(only, called)) && !fitsGlob(without, called);
  return isWanted ? undefined : 'It was left out by whoever let the transfer in.';
}
