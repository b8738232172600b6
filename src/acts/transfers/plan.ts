// Plans the changes of a received transfer: for the preview, and again in the act that accepts it.
import { createDigest } from '#domain/cryptography.ts';
import type { TransferPackage } from '#contract/wire.ts';
import type { ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';
import { renameChannel } from '#domain/transfers/channel-renaming.ts';
import { matchesGlob } from '#domain/releases/channel.ts';
import { fitsGlob } from '#domain/packages/package-glob.ts';
import { Refusal } from '#domain/refusal.ts';
import { mapSequence, PackedList } from '#domain/sequence.ts';
import { planAssertions } from './kinds/assertions.ts';
import { planFeeds } from './kinds/feeds.ts';
import { planFleets } from './kinds/fleets.ts';
import { planLarderReleases } from './kinds/larder-releases.ts';
import { planWholePackage } from './kinds/index.ts';
import { PackagePlanning, type PlanningContext } from './package-planning.ts';
import {
  isSelected,
  type PackagePlan,
  type PlanLine,
  type PlanProblem,
  type PlanRecords,
  type TransferPlan,
  type TransferPlanInputs,
  type TransferPlanRequest,
  type TransferSelection,
} from './plan-types.ts';
import { subjectsBesidePackages, type LazyTransferStatement } from './statement.ts';

/** The plan of the package at index `at` of the statement. */
interface PackagePlanEntry {
  at: number;
  made: Omit<PackagePlan, 'carried'> & { carried?: undefined };
}

/** Plans each package, and collects lines for people and the problems that prevent acceptance. */
export async function planTransfer(records: PlanRecords, request: TransferPlanRequest): Promise<TransferPlan> {
  const { id, statement, aside } = request;
  refuseIdle(statement, [...request.only, ...request.without]);
  // The package is read from the statement again, so that it is not in memory twice.
  const plans = new PackedList<PackagePlanEntry>(aside);
  const packages = mapSequence(plans, ({ at, made }): PackagePlan => {
    return { ...made, carried: asReleased(statement.packages.at(at)!, request.asChannel) };
  });
  const plan: TransferPlan = {
    packages,
    assertions: [],
    feeds: [],
    fleets: [],
    larderReleases: [],
    lines: new PackedList<PlanLine>(aside),
    releases: new PackedList<ApprovalLine>(aside),
    problems: [],
    leftOut: [],
    missing: [],
    finding: (subject) => records.transfers.finding(id, subject),
  };
  const arrived = await records.transfers.arrived(id);
  const accountsOfSource = new Map(statement.accounts.map((account) => [account.id, account]));
  const inputs: TransferPlanInputs = {
    ...request,
    arrived,
    finding: plan.finding,
    accountSaid: (account) => accountsOfSource.get(account),
  };
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
    const carried = asReleased(sentPackage, request.asChannel);
    const called = `${carried.namespace}/${carried.name}`;
    if (!isSelected(request, carried)) {
      plan.leftOut.push({ package: called, what: called, why: whyLeftOut(carried, lost) });
      continue;
    }
    const made = await planWholePackage(new PackagePlanning(context, carried));
    if (made !== undefined) plans.add({ at, made: { ...made, carried: undefined } });
  }
  await planAssertions(records, inputs, plan);
  await planFeeds(records, inputs, plan);
  await planFleets(records, inputs, plan);
  await planLarderReleases(records, inputs, plan);
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
function refuseIdle(statement: LazyTransferStatement, globs: readonly string[]): void {
  const idle = new Set(globs.filter((glob) => !matchesGlob(glob.split('/', 1)[0]!, 'assertion')));
  if (idle.size === 0) return;
  for (const sent of [...statement.packages, ...subjectsBesidePackages(statement)])
    for (const glob of idle) if (fitsGlob([glob], sent)) idle.delete(glob);
  const [glob] = idle;
  if (glob === undefined) return;
  throw new Refusal(
    'resource-not-found',
    `Nothing in this transfer matches '${glob}'. Its preview lists the packages.`,
  );
}

/**
 * A transfer leaves out packages that have not changed since earlier transfers, and names these transfers. Returns a
 * problem for each of them that this store has not accepted.
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
const asReleased = (carried: TransferPackage, asChannel: TransferSelection['asChannel']): TransferPackage =>
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

/** The digest of the lines, for comparing two plans. Equals the digest of the list in canonical JSON. */
export function planDigestOf({ lines }: Pick<TransferPlan, 'lines'>): string {
  const digest = createDigest('change');
  let separator = '[';
  for (const line of lines) {
    digest.update(`${separator}${toCanonicalText(line)}`);
    separator = ',';
  }
  return digest.update(separator === '[' ? '[]' : ']').digest('hex');
}
