// Accepts a transfer in one act and one transaction: all of it or nothing.
import type { AssertionSelection } from '#assertions/spilled-assertions.ts';
import { lineText, type ApprovalLine } from '#domain/approvals/approval-policy.ts';
import { createDigest } from '#domain/cryptography.ts';
import { Refusal } from '#domain/refusal.ts';
import { jsonOf, PackedList, type SpillStorage } from '#domain/sequence.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { collectGarbage } from '#platform/small-heap.ts';
import { act, DoneAlready, type ActContext } from '../act.ts';
import type { VerifiedAssertionsByName } from '../assertions/assertions.ts';
import { vulnerabilityLines } from '../vulnerabilities/vulnerability-lines.ts';
import { requireTrustedSource, trustLine, type TrustedSource, type WaitingTransfer } from '../sites/source-trust.ts';
import { isExpired } from './acceptance-conditions.ts';
import { automaticRule, listReviewReasons } from './automatic.ts';
import { parseFindings } from './findings.ts';
import { acceptAssertions } from './kinds/assertions.ts';
import { acceptFeeds } from './kinds/feeds.ts';
import { acceptFleets } from './kinds/fleets.ts';
import { acceptLarderReleases } from './kinds/larder-releases.ts';
import type { PackageAcceptance } from './kinds/content-kind.ts';
import { acceptWholePackage } from './kinds/index.ts';
import { approvalLines, planDigestOf, planTransfer } from './plan.ts';
import type { LarderReleaseVerdict, PlanLine, TransferPlan, TransferSelection } from './plan-types.ts';
import { buildReceipt, type ChannelUndo, type Receipt } from './receipt.ts';
import { releasedSubjects } from './released-subjects.ts';
import type { LazyTransferStatement } from './statement.ts';
import { requireWaitingTransfer } from './transfers.ts';

export interface TransferAcceptance extends WaitingTransfer, TransferSelection {
  /** The verified assertions of the transfer. */
  believed: VerifiedAssertionsByName<AssertionSelection>;
  /** The verdicts on its releases of larder, with the keys of the program that accepts it. */
  larderReleases: ReadonlyMap<string, LarderReleaseVerdict>;
  /** Whether to accept without a person, if the source and the policy permit it. */
  isAutomatic?: boolean;
  /**
   * The digest of the previewed lines. If the plan has another digest, the act is refused. Undefined if no preview was
   * read.
   */
  seen: string | undefined;
  /**
   * Storage for spill files: the long lists of the plan and of the receipt are written to it. If undefined, they stay in
   * memory.
   */
  aside?: SpillStorage | undefined;
}

export const acceptTransfer = act({
  name: 'accept_transfer',
  summary: 'Accept a waiting transfer: all of its packages, revisions, resources, images and releases, or nothing.',
  on: 'transfer/ID',
  object: ({ id }: TransferAcceptance) => `transfer/${id}`,
  gate: {
    kinds: ['transfers', 'releases', 'unsigned_folders', 'feeds', 'vulnerabilities'],
    async lines(tx, accepted: TransferAcceptance, { at, policies }) {
      const received = await tx.transfers.find(accepted.id);
      if (received?.status !== 'waiting') return [];
      const { plan, trusted } = await planOnce(tx, accepted, at);
      const lines = [
        ...approvalLines(plan),
        ...(await vulnerabilityLines(tx, releasedSubjects(tx, plan, at), { at, policies })),
        ...vouchedLine(accepted.statement, plan),
        ...lateLine(accepted.statement, at),
        ...unsignedLine(received),
      ];
      return lines.length === 0 || trusted === undefined ? lines : [trustLine(trusted), ...lines];
    },
  },

  async perform(tx, accepted: TransferAcceptance, doing): Promise<Receipt> {
    const { id, statement, believed } = accepted;
    const received = await tx.transfers.find(id);
    if (received?.status === 'accepted') throw new DoneAlready(JSON.parse(received.receipt ?? '{}') as Receipt);
    const before = await requireWaitingTransfer(tx, id);
    const { plan, source } = await planOnce(tx, accepted, doing.at);
    refuseProblems(plan, statement);
    if (accepted.seen !== undefined && planDigestOf(plan) !== accepted.seen) {
      throw new Refusal(
        'conflict',
        'The transfer would now make other changes than the preview showed. Look at the preview again.',
      );
    }
    const automatic = accepted.isAutomatic === true ? await automaticIn(tx, accepted, plan, doing.at) : undefined;
    await acceptAssertions(tx, plan, believed, doing);
    const undo = new PackedList<ChannelUndo>(accepted.aside);
    const findings: PackageAcceptance['findings'] = async (kind, subject) => {
      const result = parseFindings(kind, await plan.finding(subject));
      if (result === undefined) throw new Error(`cannot accept ${subject}: it was not reviewed`);
      return result;
    };
    collectGarbage();
    await acceptFeedsAlone(tx, plan, doing);
    const { finding } = plan;
    for (const packagePlan of plan.packages)
      await acceptWholePackage({ tx, doing, plan: packagePlan, finding, findings, undo });
    await acceptFleets(tx, plan, doing);
    await acceptLarderReleases(tx, plan, doing);
    collectGarbage();
    await tx.transferSources.raiseFloor(statement.source, statement.sequence);
    const receipt = await buildReceipt(tx, { received: before, statement, source, plan, automatic, undo }, doing);
    const settled = { receipt: jsonOf(receipt), at: doing.at, actor: doing.actor };
    await tx.transfers.settle(id, { status: 'accepted', ...settled });
    await tx.transfers.forgetArrived(id);
    doing.note({ source: statement.source, sequence: statement.sequence, changes: plan.lines.length });
    // The receipt has all lines; the digest is that of the preview.
    doing.note({ digest: planDigestOf(plan), lines: [...plan.lines.values().take(notedLines).map(planLineText)] });
    return receipt;
  },
});

/** The maximum number of lines in the audit log entry. */
const notedLines = 100;

const planLineText = ({ package: on, what: item, from, to }: PlanLine): string =>
  lineText({ on, part: item, from, to });

/**
 * Accepts the feeds. Refuses feeds that know vulnerabilities of the same transfer that the approval policy asks about:
 * the people who approved it have not seen them.
 */
async function acceptFeedsAlone(tx: ChangeRecords, plan: TransferPlan, doing: ActContext): Promise<void> {
  if (plan.feeds.length === 0) return;
  const context = { at: doing.at, policies: [await tx.approvalPolicy.inForce()] };
  const before = (await vulnerabilityLines(tx, releasedSubjects(tx, plan, doing.at), context)).map(lineText);
  await acceptFeeds(tx, plan, doing);
  const added = (await vulnerabilityLines(tx, releasedSubjects(tx, plan, doing.at), context)).map(lineText);
  const unseen = added.find((line) => !before.includes(line));
  if (unseen === undefined) return;
  throw new Refusal(
    'conflict',
    `With the feeds of this transfer, the approval policy asks about more vulnerabilities: ${unseen}. ` +
      "Import the feed first with 'larder feed import', or accept only the feeds with '--only feed/*' and have the packages sent again.",
  );
}

/** The rule under which the transfer is accepted automatically. Throws if it has to wait for a person. */
async function automaticIn(
  tx: ChangeRecords,
  { statement }: TransferAcceptance,
  plan: TransferPlan,
  at: string,
): Promise<string> {
  const [source, policy] = [await tx.transferSources.find(statement.source), await tx.approvalPolicy.inForce()];
  const { sequence } = statement;
  const vulnerabilities = await vulnerabilityLines(tx, releasedSubjects(tx, plan, at), { at, policies: [policy] });
  const approvals = [...approvalLines(plan), ...vulnerabilities];
  const terms = { source, sequence, isLate: isExpired(statement, at), policy, approvals };
  const reasons = listReviewReasons(plan.lines, terms);
  if (reasons.length === 0 && source !== undefined) return automaticRule(source);
  throw new Refusal('conflict', reasons.join(' '));
}

/**
 * The line that approvers see if roots of trust vouch for changes. If this site trusts other roots later, the line differs, and the
 * approvals no longer count.
 */
function vouchedLine(
  { source, sequence }: LazyTransferStatement,
  { lines }: Pick<TransferPlan, 'lines'>,
): ApprovalLine[] {
  const digest = createDigest('change');
  let [all, vouched] = [0, 0];
  for (const { package: subject, what: item, word } of lines) {
    all++;
    if (word !== 'upstream') continue;
    vouched++;
    digest.update(JSON.stringify([subject, item]));
  }
  if (vouched === 0) return [];
  const some = (): string => `${String(vouched)} of ${String(all)} changes (${digest.digest('hex').slice(0, 12)})`;
  const on = `transfer ${String(sequence)} of ${source}`;
  return [
    {
      kind: 'transfers',
      on,
      part: 'roots',
      from: null,
      to: `trusted roots vouch for ${vouched === all ? 'all changes' : some()}`,
    },
  ];
}

/** The line that approvers see if the transfer has expired. Approvals cover its text, so a release must not change it. */
function lateLine(statement: LazyTransferStatement, at: string): ApprovalLine[] {
  if (!isExpired(statement, at)) return [];
  const { expires, source, sequence } = statement;
  const on = `transfer ${String(sequence)} of ${source}`;
  return [{ kind: 'unsigned_folders', on, part: null, from: `good until ${expires}`, to: 'let in later than that' }];
}

/** The line that approvers see if the transfer is unsigned. Approvals cover its text, so a release must not change it. */
const unsignedLine = ({ unsigned, source, sequence }: ReceivedTransfer): ApprovalLine[] => {
  const on = `transfer ${String(sequence)} of ${source}`;
  const to = 'let in, though nobody has signed it';
  return unsigned === 0 ? [] : [{ kind: 'unsigned_folders', on, part: null, from: null, to }];
};

interface PlannedTransfer extends TrustedSource {
  plan: TransferPlan;
}

/**
 * The plan of a transaction, which both the gate (for the lines to approve) and `perform` need. Nothing is written
 * between the two, and a transaction that is retried has a new `Changes` object as its key.
 */
const planned = new WeakMap<ChangeRecords, { accepted: TransferAcceptance; planned: Promise<PlannedTransfer> }>();

function planOnce(tx: ChangeRecords, accepted: TransferAcceptance, at: string): Promise<PlannedTransfer> {
  const before = planned.get(tx);
  if (before?.accepted === accepted) return before.planned;
  const made = planIn(tx, accepted, at);
  planned.set(tx, { accepted, planned: made });
  return made;
}

/** Plans the changes of a transfer. Refuses a transfer that is not for this site or cannot be accepted now. */
async function planIn(tx: ChangeRecords, accepted: TransferAcceptance, at: string): Promise<PlannedTransfer> {
  const { source, trusted } = await requireTrustedSource(tx, accepted, at);
  const plan = await planTransfer(tx, { ...accepted, source, isUnsigned: trusted === undefined, at });
  return { plan, source, trusted };
}

function refuseProblems({ problems, missing }: TransferPlan, { base }: LazyTransferStatement): void {
  const [first] = problems;
  if (first === undefined) return;
  const others =
    problems.length > 1 ? ` There are ${String(problems.length - 1)} more of this kind; the preview names them.` : '';
  const lost =
    missing.length > 0 && base.kind === 'sent'
      ? ' If an earlier transfer of its source was lost, the preview names its number and the remedy.'
      : '';
  throw new Refusal(
    'conflict',
    `${first.what === first.package ? '' : `${first.package}, `}${first.what}: ${first.why}${others} ` +
      `Nothing was accepted. '--without ${first.package}' leaves the package out.${lost}`,
  );
}
