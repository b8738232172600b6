// What of a source is let in without people: what brings nothing that a person should see first, and of which the policy asks nobody.
import { rulesFor, type ApprovalPolicy, type Line } from '#domain/approvals.ts';
import type { Sequence } from '#domain/sequence.ts';
import type { TransferSource } from '#records/transfer-sources.ts';
import type { PlanLine } from './transfer-planning.ts';

/** How many reasons are told; one would do. */
const mostReasons = 5;

interface Asked {
  /** Nothing where it is unsigned. */
  source: Pick<TransferSource, 'name' | 'accept' | 'floor'> | undefined;
  /** The number of the transfer. */
  sequence: number;
  isLate: boolean;
  policy: ApprovalPolicy;
  /** The lines that others would approve of. */
  approvals: readonly Line[];
}

/** So many numbers may be lost between two transfers of a source before somebody is told. */
const usualJump = 1000;

/** Whether a number is so far above the last accepted one that it may lock the source out. */
export const isFarAhead = (sequence: number, floor: number): boolean => sequence - floor > usualJump;

/** What people are told of such a number. */
export const farAhead = (sequence: number, floor: number): string =>
  `Its number ${String(sequence)} is far above the last accepted one, ${String(floor)}: once it is accepted, lower numbers of the source are refused.`;

/** Why it waits for people; none where it does not. What stands in its way is told before. */
export function whyPeople(lines: Sequence<PlanLine>, { source, sequence, isLate, policy, approvals }: Asked): string[] {
  if (source?.accept !== 'automatic') return ['Its source is not one whose transfers are let in by themselves.'];
  const reasons = new Set<string>();
  if (isLate) reasons.add('It has expired.');
  if (isFarAhead(sequence, source.floor)) reasons.add(farAhead(sequence, source.floor));
  if (rulesFor(policy, approvals).length > 0) reasons.add('The approval policy asks people about what it changes.');
  for (const line of lines.values()) {
    if (reasons.size >= mostReasons) break;
    const why = whyLine(line);
    if (why !== undefined) reasons.add(why);
  }
  return [...reasons];
}

/** Why a person should see a line first. Every note is for people, but for the reason of a withdrawal. */
function whyLine({ kind, package: called, what, to, notes }: PlanLine): string | undefined {
  if (kind === 'package') return `${called} is new here.`;
  if (kind === 'track') return `The track ${what} of ${called} is new here.`;
  if (kind === 'publisher') return `${called} would be published by ${to ?? 'another account'}.`;
  const told = kind === 'withdrawal' ? [] : notes;
  return told.length === 0 ? undefined : `${called} ${what}: ${told.join('; ')}.`;
}

/** The rule that let it in, for its receipt. */
export const automaticRule = ({ name, threshold }: Pick<TransferSource, 'name' | 'threshold'>): string =>
  `What '${name}' sends is let in by itself: in its scope, signed with ${String(threshold)} of its keys, with no new name, publisher ` +
  'or track, no downgrade and nothing else that is marked, and about which the approval policy asks nobody.';
