// Inspects a received transfer: computes the changes that it would make and verifies its signatures and assertions.
import { createHash } from 'node:crypto';

import { believe, believeMany, type BelievedByName } from '#acts/assertions.ts';
import { farAhead, isFarAhead } from '#acts/transfer-automatic.ts';
import { planOf } from '#acts/transfer-plan.ts';
import { trustedSourceOf, type WaitingTransfer } from '#acts/source-trust.ts';
import { planningOf, type Plan, type Planning, type PlanProblem } from '#acts/transfer-planning.ts';
import type { Statement } from '#acts/transfer-statement.ts';
import { isExpired, nobody, whyItWaits, type Here } from '#acts/transfers.ts';
import { parseStream, type Assertion } from '#assertions/assertion.ts';
import type { Roots } from '#assertions/chain.ts';
import { inOrder, standingTypes } from '#assertions/prerequisites.ts';
import { SpooledAssertions, type Picked } from '#assertions/spooled.ts';
import { nameOf } from '#assertions/types.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { Missing } from '#domain/closure.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Spool } from '#files/spool.ts';
import type { Records } from '#records/index.ts';
import type { TransferSource } from '#records/transfer-sources.ts';
import type { ReceivedTransfer } from '#records/transfers.ts';
import { giveBack, letGo } from '#src/small-heap.ts';
import { missingAfter } from './closure-after.ts';
import { canonical } from './form/canonical.ts';
import { keyIdOf, readSignatures, signersOf } from './form/signatures.ts';
import { readStatement } from './form/statement.ts';
import { fingerprintOfId } from './site.ts';
import { wholeOf } from './whole.ts';

export interface Looking {
  records: Records;
  blobs: Pick<Blobs, 'open'>;
  roots: Roots;
  /** Spill file for its assertions, needed during the inspection. */
  spool: Spool;
  now: Now;
}

/** A received transfer, read and verified. */
export interface Brought {
  transfer: ReceivedTransfer;
  statement: Statement;
  /** The keys that have signed it, and whether each is a known key of its source. */
  signatures: { fingerprint: string; 'is-of-source': boolean }[];
  /** Public keys of the source and its scanning stations that have signed it. */
  signers: string[];
  believed: BelievedByName<Picked>;
  /** Assertions that cannot be verified, with the reason. */
  disbelieved: { what: string; why: string }[];
  /** Spill file for long lists, needed during the inspection. */
  aside: Spool;
}

export interface Seen extends Brought {
  /** Whether the transfer waits and has expired. */
  isLate: boolean;
  plan: Plan;
  /** Warning if its number is far above the last accepted number of its source. */
  farAhead: string | undefined;
  /** Numbers of earlier transfers that it needs or may need and that were not accepted. */
  lost: number[];
  /** Why it waits for a person although its source is accepted automatically. */
  why: string | null;
  /** Dependencies of its releases that neither the transfer nor this site has. */
  needed: Missing[];
  /** Digest of the plan's lines, to prove at acceptance which plan the person has seen. */
  digest: string;
}

/** Returns the transfer with this id prefix. Refuses if there is none or more than one. */
export async function transferOf({ transfers }: Pick<Records, 'transfers'>, prefix: string): Promise<ReceivedTransfer> {
  if (/^[0-9a-f]{1,5}$/.test(prefix))
    throw new Refusal(
      'resource-not-found',
      `'${prefix}' is too short; name six digits of the id of the transfer, or more.`,
    );
  const [found, other] = /^[0-9a-f]{6,64}$/.test(prefix) ? await transfers.beginningWith(prefix) : [];
  if (found !== undefined && other === undefined) return found;
  throw new Refusal(
    'resource-not-found',
    found === undefined
      ? `No transfer '${prefix.slice(0, 64)}' is here; 'larder transfer list' shows those that are.`
      : `More than one transfer begins with '${prefix}'; name more of its digits.`,
  );
}

/** Returns a digest for comparing two plans. */
export function digestOf({ lines }: Pick<Plan, 'lines'>): string {
  const digest = createHash('sha256');
  // Equals the digest of the list in canonical JSON, computed line by line.
  let separator = '[';
  for (const line of lines) {
    digest.update(`${separator}${canonical(line)}`);
    separator = ',';
  }
  return digest.update(separator === '[' ? '[]' : ']').digest('hex');
}

/** Reads a received transfer and verifies its assertions. */
export async function broughtBy(transfer: ReceivedTransfer, looking: Looking): Promise<Brought> {
  const { blobs, records, spool } = looking;
  const bytes = await wholeOf(blobs, transfer.statement);
  if (bytes === undefined) throw new Error(`cannot look at the transfer ${transfer.id}: its statement is missing`);
  const statement = readStatement(bytes, spool);
  const source = transfer.unsigned === 1 ? undefined : await records.transferSources.find(statement.source);
  const signed = transfer.unsigned === 1 ? { signatures: [], signers: [] } : signaturesOn(bytes, transfer, source);
  giveBack(bytes);
  const judged = await believedOf(statement, looking);
  letGo();
  return { transfer, statement, ...signed, ...judged, aside: spool };
}

export async function lookAt(
  brought: Brought,
  { only, without, asChannel }: Pick<Planning, 'only' | 'without' | 'asChannel'>,
  { records, now, ...here }: Pick<Looking, 'records' | 'now'> & Here & Pick<WaitingTransfer, 'isAdoption'>,
): Promise<Seen> {
  const { transfer, statement, believed, aside } = brought;
  const isUnsigned = transfer.unsigned === 1;
  const at = timestamp(now());
  const refused = transfer.status === 'waiting' ? await whyRefused(records, { ...brought, ...here }, at) : undefined;
  // The changes are also shown for a source that is no longer trusted.
  const known = isUnsigned ? undefined : await records.transferSources.find(statement.source);
  const source = known ?? nobody;
  const given = { statement, source, isUnsigned, only, without, asChannel, at, believed, aside };
  const planning = await planningOf(records, transfer.id, given);
  const plan = await planOf(records, planning);
  if (refused !== undefined) plan.problems.unshift(refused);
  letGo();
  const needed = await missingAfter(records, plan, planning.finding);
  const isLate = transfer.status === 'waiting' && isExpired(statement, at);
  const why = (await records.transfers.finding(transfer.id, whyItWaits))?.refused ?? null;
  const { sequence } = statement;
  const isAhead = transfer.status === 'waiting' && known !== undefined && isFarAhead(sequence, known.floor);
  const lost = transfer.status === 'waiting' ? await lostBefore(records, statement, plan, known?.floor ?? 0) : [];
  const ahead = isAhead ? farAhead(sequence, known.floor) : undefined;
  return { ...brought, isLate, plan, farAhead: ahead, lost, why, needed, digest: digestOf(plan) };
}

/** Returns why the whole transfer cannot be accepted now: its source is not trusted for it, or it is for another site. */
async function whyRefused(
  records: Records,
  { transfer: { id }, ...waiting }: Brought & Omit<WaitingTransfer, 'id'>,
  at: string,
): Promise<PlanProblem | undefined> {
  try {
    await trustedSourceOf(records, { ...waiting, id }, at);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const what = `number ${String(waiting.statement.sequence)} of ${waiting.statement.source}`;
    return { package: what, what, why: error.message };
  }
}

/** Maximum number of lost transfers to list. */
const maxLost = 20;

/**
 * Returns the numbers of earlier transfers that were not accepted here: the transfers that this one depends on, and, if content is missing
 * here, all since the last accepted one.
 */
async function lostBefore(
  { transfers }: Pick<Records, 'transfers'>,
  { source, sequence, base }: Statement,
  { missing }: Pick<Plan, 'missing'>,
  floor: number,
): Promise<number[]> {
  const rested = base['rests-on'] ?? [];
  const between = base.kind === 'sent' && missing.length > 0 ? Math.min(sequence - floor - 1, maxLost) : 0;
  const asked = [...rested, ...Array.from({ length: Math.max(between, 0) }, (_, at) => sequence - 1 - at)];
  const accepted = await transfers.letIn(source, asked);
  const lost = new Set(asked.filter((number) => !accepted.has(number)));
  return [...lost].sort((a, b) => a - b).slice(0, maxLost);
}

/** Returns all signatures of a transfer, and the currently trusted keys among them. */
export function signaturesOn(
  statement: Uint8Array,
  { signatures }: Pick<ReceivedTransfer, 'signatures'>,
  source: Pick<TransferSource, 'keys' | 'scanners'> | undefined,
): Pick<Brought, 'signatures' | 'signers'> {
  const { keys, scanners } = source ?? { keys: [], scanners: [] };
  const given = readSignatures(Buffer.from(signatures));
  const signers = signersOf(statement, given, [...keys, ...scanners]);
  const ofSource = new Set(signers.filter((key) => keys.includes(key)).map(keyIdOf));
  const shown = given.map(({ keyid }) => ({
    fingerprint: fingerprintOfId(keyid),
    'is-of-source': ofSource.has(keyid),
  }));
  return { signatures: shown, signers };
}

/** Verifies the assertions of a transfer: all together, or, if that fails, each revision separately. */
async function believedOf(
  statement: Statement,
  { records, blobs, roots, spool, now }: Looking,
): Promise<Pick<Seen, 'believed' | 'disbelieved'>> {
  const carried = new SpooledAssertions(spool);
  for (const { 'sha3-384': sha3_384 } of statement.assertions) {
    const bytes = await wholeOf(blobs, sha3_384);
    for (const one of bytes === undefined ? [] : parseStream(bytes)) carried.add(one);
  }
  const looking = { records, roots, now: now() };
  try {
    return { believed: await believeMany(carried, looking), disbelieved: [] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  const good = carried.beside();
  const disbelieved: Seen['disbelieved'] = [];
  for (const { one, what } of apart(statement, carried)) {
    const together = inOrder(one, (name) => carried.get(name));
    try {
      await believe(together, looking);
      for (const some of together) good.add(some);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      disbelieved.push({ what, why: error.message });
    }
  }
  return { believed: await believeMany(good, looking), disbelieved };
}

/** Yields the assertions to verify one by one: those of revisions, and those without a package. */
function* apart({ packages }: Statement, carried: SpooledAssertions): Generator<{ one: Assertion; what: string }> {
  for (const { namespace, name, revisions } of packages) {
    for (const { assertion, revision } of revisions) {
      const one = assertion === undefined ? undefined : carried.get(assertion);
      if (one !== undefined) yield { one, what: `${namespace}/${name} revision ${String(revision)}` };
    }
  }
  for (const type of standingTypes) for (const one of carried.ofType(type)) yield { one, what: nameOf(one) };
}
