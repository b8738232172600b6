// Assertions in transfers: the prerequisites of revisions are accepted with them, assertions without a package on their own.
import { prerequisitesOf } from '#assertions/prerequisites.ts';
import { nameOf } from '#assertions/format/types.ts';
import { NameIndex } from '#domain/name-index.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { ActContext } from '../../act.ts';
import { storeVerifiedAssertions, type VerifiedAssertions } from '../../assertions/assertions.ts';
import {
  findExclusion,
  type PlanProblem,
  type PlanRecords,
  type TransferPlan,
  type TransferPlanInputs,
} from '../plan-types.ts';

/** Adds the assertions to a plan. Call it when all packages are planned. */
export async function planAssertions(
  records: PlanRecords,
  inputs: TransferPlanInputs,
  plan: TransferPlan,
): Promise<void> {
  const { of: upload, numbers: fresh } = inputs.believed.accepted;
  const packages = new NameIndex();
  for (const { carried } of plan.packages) packages.add(carried.id);
  const coming = selectAssertions(inputs, plan, packages);
  const numbers = fresh.filter((number) => coming[number]! > 0);
  plan.assertions = upload.pick(numbers);
  for (let from = 0; from < numbers.length; from += page) {
    const some = numbers.slice(from, from + page).map((number) => ({ number, one: upload.at(number)! }));
    const stored = await records.assertions.listOf(some.map(({ one: assertion }) => nameOf(assertion)));
    const storedByName = new Map(stored.map((record) => [record.name, record]));
    for (const { number, one: assertion } of some) {
      const name = nameOf(assertion);
      const before = storedByName.get(name);
      // A new assertion that vouches for a revision needs no line, because the revision has one.
      if (before === undefined && coming[number] === vouching) continue;
      const { 'snap-id': id } = assertion.headers;
      const of = typeof id === 'string' ? plan.packages.at(packages.numberOf(id))?.carried : undefined;
      plan.lines.add({
        package: of === undefined ? `assertion/${assertion.type}` : `${of.namespace}/${of.name}`,
        kind: 'assertion',
        what: name,
        from: before === undefined ? null : `revision ${String(before.revision)}`,
        to: `revision ${String(assertion.revision)}`,
        word: 'upstream',
        notes: before?.origin === 'signed' ? ['what was signed here gives way'] : [],
      });
    }
  }
}

/** Stores the planned assertions. They come before the packages that rely on them. */
export const acceptAssertions = (
  tx: ChangeRecords,
  { assertions }: TransferPlan,
  believed: VerifiedAssertions,
  doing: ActContext,
): Promise<void> => storeVerifiedAssertions(tx, { ...believed, accepted: assertions }, doing);

/** The number of texts that are in memory together. */
const page = 500;
/** Why an assertion is accepted: on its own, or because a revision relies on it. */
const [alone, vouching] = [1, 2];

/** Returns, for each assertion by number, why it is accepted, or 0 if it is not. Adds those left out to the plan. */
function selectAssertions(inputs: TransferPlanInputs, plan: TransferPlan, packages: NameIndex): Uint8Array {
  const { of: upload, numbers } = inputs.believed.accepted;
  const coming = new Uint8Array(upload.length);
  const bring = (name: string, cause: number): void => {
    const number = upload.numberOf(name);
    if (number >= 0) coming[number] = Math.max(coming[number]!, cause);
  };
  for (const { revisions } of plan.packages)
    for (const { assertion } of revisions) if (assertion !== undefined) bring(assertion, vouching);
  const carried = new NameIndex();
  for (const { id } of inputs.statement.packages) carried.add(id);
  const leftOut: PlanProblem[] = [];
  // From last to first, so that the assertions that rely on one are handled before it.
  for (const number of numbers.toReversed()) {
    const assertion = upload.at(number)!;
    const { 'snap-id': id } = assertion.headers;
    const isOfPackage = typeof id === 'string' && carried.has(id);
    // The assertions of a package that is left out are left out too.
    const isOut = isOfPackage && !packages.has(id);
    const called = { namespace: 'assertion', name: assertion.type };
    const reason = isOfPackage ? undefined : findExclusion(inputs, called)?.reason;
    if (coming[number] === 0 && !isOut) {
      if (reason === undefined) coming[number] = alone;
      else leftOut.push({ package: `assertion/${assertion.type}`, what: nameOf(assertion), why: reason });
    }
    if (coming[number]! > 0) for (const name of prerequisitesOf(assertion)) bring(name, coming[number]!);
  }
  plan.leftOut.push(...leftOut.reverse());
  return coming;
}
