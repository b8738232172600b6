// Decides whether a transfer can be accepted automatically: it contains nothing that needs a person, and the approval
// policy does not cover it.
import { rulesFor, type ApprovalPolicy, type ApprovalLine } from '#domain/approvals/approval-policy.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import type { PlanLine } from './plan-types.ts';

/**
 * The subject, among the findings of reviews, that stores why a transfer waits for a person. No package can have this
 * name.
 */
export const waitReasonSubject = 'automatic';

/** The maximum number of reasons that are reported. */
const maxReasons = 5;

interface AutomaticTerms {
  /** Undefined if the transfer is unsigned. */
  source: Pick<TransferSource, 'name' | 'accept' | 'floor'> | undefined;
  /** The number of the transfer. */
  sequence: number;
  isLate: boolean;
  policy: ApprovalPolicy;
  /** The lines that would need approval. */
  approvals: readonly ApprovalLine[];
}

/** The largest usual gap between the numbers of two transfers of a source. A transfer after a larger gap waits for review. */
const maxUsualGap = 1000;

/** Whether a number is so far above the last accepted number that it may lock the source out. */
export const isFarAhead = (sequence: number, floor: number): boolean => sequence - floor > maxUsualGap;

/** The warning about a number that is far above the last accepted one. */
export const farAheadWarning = (sequence: number, floor: number): string =>
  `Its number ${String(sequence)} is far above the last accepted one, ${String(floor)}: once it is accepted, lower numbers of the source are refused.`;

/** Why a transfer waits for a person; empty if it does not. Problems are reported separately, before this. */
export function listReviewReasons(
  lines: Sequence<PlanLine>,
  { source, sequence, isLate, policy, approvals }: AutomaticTerms,
): string[] {
  if (source?.accept !== 'automatic') return ['Transfers of its source are not accepted automatically.'];
  const reasons = new Set<string>();
  if (isLate) reasons.add('It has expired.');
  if (isFarAhead(sequence, source.floor)) reasons.add(farAheadWarning(sequence, source.floor));
  if (rulesFor(policy, approvals).length > 0) reasons.add('The approval policy requires approvals for its changes.');
  for (const { kind, on, part, to } of approvals)
    if (kind === 'vulnerabilities' && reasons.size < maxReasons)
      reasons.add(`The approval policy asks about ${part ?? ''} vulnerabilities: ${on}, ${to ?? ''}.`);
  for (const line of lines.values()) {
    if (reasons.size >= maxReasons) break;
    const reason = describeReviewReason(line);
    if (reason !== undefined) reasons.add(reason);
  }
  return [...reasons];
}

/** Why a person should see a line first. All notes count, except the reason of a withdrawal. */
function describeReviewReason({ kind, package: called, what: item, to, notes }: PlanLine): string | undefined {
  if (kind === 'package') return `${called} is new here.`;
  if (kind === 'track') return `The track ${item} of ${called} is new here.`;
  if (kind === 'publisher') return `${called} would be published by ${to ?? 'another account'}.`;
  const remarks = kind === 'withdrawal' ? [] : notes;
  return remarks.length === 0 ? undefined : `${called} ${item}: ${remarks.join('; ')}.`;
}

/** The rule under which it was accepted, for the receipt. */
export const automaticRule = ({ name, threshold }: Pick<TransferSource, 'name' | 'threshold'>): string =>
  `Transfers of '${name}' are accepted automatically: in its scope, signed with ${String(threshold)} of its keys, with no new name, publisher ` +
  'or track, no downgrade and no other mark, and if the approval policy requires no approvals.';
