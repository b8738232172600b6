// Plans the changes of a received transfer: for the preview, and again in the act that accepts it.
import type { TransferPackage } from '#contract/wire.ts';
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { renameChannel } from '#domain/transfers/channel-renaming.ts';
import { matchesGlob } from '#domain/releases/channel.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import { Refusal } from '#domain/refusal.ts';
import { mapSequence, PackedList } from '#domain/sequence.ts';
import { planAssertions } from './kinds/assertions.ts';
import { planWholePackage } from './kinds/index.ts';
import { PackagePlanning, type PlanningContext } from './package-planning.ts';
import type {
  PackagePlan,
  TransferPlan,
  TransferPlanInputs,
  PlanLine,
  PlanProblem,
  PlanRecords,
} from './plan-types.ts';
import type { LazyTransferStatement } from './statement.ts';

/** The plan of the package at index `at` of the statement. */
interface PackagePlanEntry {
  at: number;
  made: Omit<PackagePlan, 'carried'> & { carried?: undefined };
}

/** Plans each package, and collects lines for people and the problems that prevent acceptance. */
export async function planTransfer(records: PlanRecords, inputs: TransferPlanInputs): Promise<TransferPlan> {
  // The package is read from the statement again, so that it is not in memory twice.
  const plans = new PackedList<PackagePlanEntry>(inputs.aside);
  const packages = mapSequence(plans, ({ at, made }): PackagePlan => {
    return { ...made, carried: asReleased(inputs.statement.packages.at(at)!, inputs.asChannel) };
  });
  const [lines, releases] = [new PackedList<PlanLine>(inputs.aside), new PackedList<ApprovalLine>(inputs.aside)];
  const plan: TransferPlan = { packages, assertions: [], lines, releases, problems: [], leftOut: [], missing: [] };
  const { statement, only, without, arrived } = inputs;
  refuseIdle(statement, [...only, ...without]);
  const lost = new Set(
    statement.blobs
      .values()
      .map((blob) => blob['sha3-384'])
      .filter((digest) => !arrived.has(digest)),
  );
  const accounts = { ids: new Set<string>(), usernames: new Set<string>() };
  const context: PlanningContext = { records, inputs, transfer: plan, accounts };
  let at = -1;
  for (const sentPackage of statement.packages) {
    at += 1;
    const carried = asReleased(sentPackage, inputs.asChannel);
    const called = `${carried.namespace}/${carried.name}`;
    const isWanted = (only.length === 0 || fitsGlob(only, carried)) && !fitsGlob(without, carried);
    if (!isWanted) {
      plan.leftOut.push({ package: called, what: called, why: whyLeftOut(carried, lost) });
      continue;
    }
    const made = await planWholePackage(new PackagePlanning(context, carried));
    if (made !== undefined) plans.add({ at, made: { ...made, carried: undefined } });
  }
  await planAssertions(records, inputs, plan);
  for (const { what: item, why: reason } of statement['left-out'])
    plan.leftOut.push({ package: item, what: item, why: `The source says: ${reason}` });
  plan.leftOut.push(...(await listMissingBases(records, statement)));
  plan.missing = [...new Set(plan.missing)];
  return plan;
}

/**
 * Refuses a glob that matches no package: it is probably a typing error, and a package meant to be left out would be
 * accepted. Globs for assertions are exempt, because the assertions may be here already and not in the plan.
 */
function refuseIdle({ packages }: LazyTransferStatement, globs: readonly string[]): void {
  const idle = new Set(globs.filter((glob) => !matchesGlob(glob.split('/', 1)[0]!, 'assertion')));
  if (idle.size === 0) return;
  for (const sentPackage of packages) for (const glob of idle) if (fitsGlob([glob], sentPackage)) idle.delete(glob);
  const [glob] = idle;
  if (glob === undefined) return;
  throw new Refusal(
    'resource-not-found',
    `Nothing in this transfer matches '${glob}'. Its preview lists the packages.`,
  );
}

/**
 * The problems of a transfer that relies on earlier transfers, if they were not accepted here: it does not repeat
 * unchanged packages.
 */
async function listMissingBases(
  { transfers }: PlanRecords,
  { source, base }: LazyTransferStatement,
): Promise<PlanProblem[]> {
  const numbers = base['rests-on'] ?? [];
  const accepted = await transfers.letIn(source, numbers);
  return numbers
    .filter((number) => !accepted.has(number))
    .map((number) => {
      const item = `number ${String(number)} of ${source}`;
      const reason =
        'This transfer leaves out packages that have not changed since that one, and that one was not accepted here.';
      return { package: item, what: item, why: reason };
    });
}

/** Renames the channels of a package to the channels that it is released to here. */
const asReleased = (carried: TransferPackage, asChannel: TransferPlanInputs['asChannel']): TransferPackage =>
  asChannel.length === 0
    ? carried
    : {
        ...carried,
        channels: carried.channels.map((release) => ({
          ...release,
          channel: renameChannel(release.channel, asChannel),
        })),
        closed: [...new Set(carried.closed.map((channelName) => renameChannel(channelName, asChannel)))],
      };

/** Why the administrator left a package out. A scanner on the way may have removed some of its files. */
function whyLeftOut({ revisions }: TransferPackage, lost: ReadonlySet<string>): string {
  const gone = revisions.filter(({ content }) => lost.has(content['sha3-384'])).map(({ revision }) => String(revision));
  const lostNote = gone.length === 0 ? '' : ` The content of revision ${gone.join(', ')} did not arrive.`;
  return `The administrator left it out.${lostNote}`;
}

/** The lines for approvers: the parts of the transfer, and each channel change in the form of any other release. */
export const approvalLines = ({ lines, releases }: Pick<TransferPlan, 'lines' | 'releases'>): ApprovalLine[] => [
  ...lines.values().map(({ package: called, what: item, from, to }) => {
    return { kind: 'transfers' as const, on: `${called} ${item}`, part: null, from, to };
  }),
  ...releases,
];
