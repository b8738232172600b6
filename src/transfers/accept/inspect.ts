// Inspects a received transfer: computes the changes that it would make and verifies its signatures and assertions.
import {
  verifyAssertions,
  verifySpooledAssertions,
  type VerifiedAssertionsByName,
} from '#acts/assertions/assertions.ts';
import { farAheadWarning, isFarAhead, waitReasonSubject } from '#acts/transfers/automatic.ts';
import { planDigestOf, planTransfer } from '#acts/transfers/plan.ts';
import { requireTrustedSource, type WaitingTransfer } from '#acts/sites/source-trust.ts';
import type { LarderReleaseVerdict, PlanProblem, TransferPlan, TransferSelection } from '#acts/transfers/plan-types.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import { isExpired, unsignedSource, type ReceivingSite } from '#acts/transfers/acceptance-conditions.ts';
import { parseStream, type Assertion } from '#assertions/format/assertion.ts';
import type { Roots } from '#assertions/chain.ts';
import { inOrder, standingTypes } from '#assertions/prerequisites.ts';
import { SpilledAssertions, type AssertionSelection } from '#assertions/spilled-assertions.ts';
import { nameOf } from '#assertions/format/types.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { UnmetNeed } from '#domain/transfers/closure.ts';
import { Refusal, refusalReason } from '#domain/refusal.ts';
import type { SpillFile } from '#files/spill-file.ts';
import type { StoreRecords } from '#records/index.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { releaseBuffer, collectGarbage } from '#platform/small-heap.ts';
import { compareVulnerabilities, type TransferVulnerabilities } from './transfer-vulnerabilities.ts';
import { findMissingAfterAcceptance } from './missing-dependencies.ts';
import { readCarriedReleases, type CarriedRelease } from '../larder-release/carried-release.ts';
import { readSignatures, findSigners } from '../statement/signatures.ts';
import { keyIdOf } from '../statement/site-keys.ts';
import { readStatement } from '../statement/statement.ts';
import { fingerprintOfId } from '../site.ts';
import { readBlob } from '../blob-bytes.ts';

export interface InspectionContext {
  records: StoreRecords;
  blobs: Pick<Blobs, 'open'>;
  roots: Roots;
  /** Spill file for its assertions, needed during the inspection. */
  spool: SpillFile;
  now: Now;
}

/** A received transfer, read and verified. */
export interface VerifiedTransfer {
  transfer: ReceivedTransfer;
  statement: LazyTransferStatement;
  /** The keys that have signed it, and whether each is a known key of its source. */
  signatures: { fingerprint: string; 'is-of-source': boolean }[];
  /** Public keys of the source and its scanning stations that have signed it. */
  signers: string[];
  believed: VerifiedAssertionsByName<AssertionSelection>;
  /** Its releases of larder, verified with the keys of this program. */
  carriedReleases: CarriedRelease[];
  /** The verdicts on them, by version. */
  larderReleases: ReadonlyMap<string, LarderReleaseVerdict>;
  /** Assertions that cannot be verified, with the reason. */
  disbelieved: { what: string; why: string }[];
  /** Spill file for long lists, needed during the inspection. */
  aside: SpillFile;
}

export interface TransferInspection extends VerifiedTransfer {
  /** Whether the transfer waits and has expired. */
  isLate: boolean;
  plan: TransferPlan;
  /** Warning if its number is far above the last accepted number of its source. */
  farAheadWarning: string | undefined;
  /** Numbers of earlier transfers that it needs or may need and that were not accepted. */
  lost: number[];
  /** Why it waits for a person although its source is accepted automatically. */
  waitReason: string | null;
  /** Dependencies of its releases that neither the transfer nor this site has. */
  needed: UnmetNeed[];
  vulnerabilities: TransferVulnerabilities;
  /** Digest of the plan's lines, to prove at acceptance which plan the person has seen. */
  digest: string;
}

/** Returns the transfer with this id prefix. Refuses if there is none or more than one. */
export async function findTransfer(
  { transfers }: Pick<StoreRecords, 'transfers'>,
  prefix: string,
): Promise<ReceivedTransfer> {
  if (/^[0-9a-f]{1,5}$/.test(prefix))
    throw new Refusal(
      'resource-not-found',
      `'${prefix}' is too short. Give at least six digits of the id of the transfer.`,
    );
  const [transfer, other] = /^[0-9a-f]{6,64}$/.test(prefix) ? await transfers.beginningWith(prefix) : [];
  if (transfer !== undefined && other === undefined) return transfer;
  throw new Refusal(
    'resource-not-found',
    transfer === undefined
      ? `No transfer '${prefix.slice(0, 64)}' is here. List the transfers with 'larder transfer list'.`
      : `More than one transfer begins with '${prefix}'. Give more digits.`,
  );
}

/** Reads a received transfer and verifies its assertions. */
export async function verifyReceived(
  transfer: ReceivedTransfer,
  looking: InspectionContext,
): Promise<VerifiedTransfer> {
  const { blobs, records, spool } = looking;
  const bytes = await readBlob(blobs, transfer.statement);
  if (bytes === undefined) throw new Error(`cannot inspect the transfer ${transfer.id}: its statement is missing`);
  const statement = readStatement(bytes, spool);
  const source = transfer.unsigned === 1 ? undefined : await records.transferSources.find(statement.source);
  const signed = transfer.unsigned === 1 ? { signatures: [], signers: [] } : signaturesOn(bytes, transfer, source);
  releaseBuffer(bytes);
  const judged = await believedOf(statement, looking);
  collectGarbage();
  const carriedReleases = await readCarriedReleases(statement, blobs);
  const larderReleases = new Map(carriedReleases.map(({ version, verdict }) => [version, verdict]));
  return { transfer, statement, ...signed, ...judged, carriedReleases, larderReleases, aside: spool };
}

export async function inspectTransfer(
  brought: VerifiedTransfer,
  selection: TransferSelection,
  {
    records,
    now,
    ...siteContext
  }: Pick<InspectionContext, 'records' | 'now'> & ReceivingSite & Pick<WaitingTransfer, 'isAdoption'>,
): Promise<TransferInspection> {
  const { transfer, statement } = brought;
  const isUnsigned = transfer.unsigned === 1;
  const at = timestamp(now());
  const refused =
    transfer.status === 'waiting' ? await whyRefused(records, { ...brought, ...siteContext }, at) : undefined;
  // The changes are also shown for a source that is no longer trusted.
  const trustedSource = isUnsigned ? undefined : await records.transferSources.find(statement.source);
  const source = trustedSource ?? unsignedSource;
  const plan = await planTransfer(records, { ...brought, ...selection, id: transfer.id, source, isUnsigned, at });
  if (refused !== undefined) plan.problems.unshift(refused);
  collectGarbage();
  const needed = await findMissingAfterAcceptance(records, plan);
  const vulnerabilities = await compareVulnerabilities(records, plan, at);
  const isLate = transfer.status === 'waiting' && isExpired(statement, at);
  const waitReason = (await records.transfers.finding(transfer.id, waitReasonSubject))?.refused ?? null;
  const { sequence } = statement;
  const isAhead =
    transfer.status === 'waiting' && trustedSource !== undefined && isFarAhead(sequence, trustedSource.floor);
  const lost =
    transfer.status === 'waiting' ? await lostBefore(records, statement, plan, trustedSource?.floor ?? 0) : [];
  const ahead = isAhead ? farAheadWarning(sequence, trustedSource.floor) : undefined;
  return {
    ...brought,
    isLate,
    plan,
    farAheadWarning: ahead,
    lost,
    waitReason,
    needed,
    vulnerabilities,
    digest: planDigestOf(plan),
  };
}

/** Returns why the whole transfer cannot be accepted now: its source is not trusted for it, or it is for another site. */
async function whyRefused(
  records: StoreRecords,
  { transfer: { id }, ...waiting }: VerifiedTransfer & Omit<WaitingTransfer, 'id'>,
  at: string,
): Promise<PlanProblem | undefined> {
  const reason = await refusalReason(() => requireTrustedSource(records, { ...waiting, id }, at));
  const subject = `number ${String(waiting.statement.sequence)} of ${waiting.statement.source}`;
  return reason === undefined ? undefined : { package: subject, what: subject, why: reason };
}

/** Maximum number of lost transfers to list. */
const maxLost = 20;

/**
 * Returns the numbers of earlier transfers that were not accepted here: the transfers that this one depends on, and, if content is missing
 * here, all since the last accepted one.
 */
async function lostBefore(
  { transfers }: Pick<StoreRecords, 'transfers'>,
  { source, sequence, base }: LazyTransferStatement,
  { missing }: Pick<TransferPlan, 'missing'>,
  floor: number,
): Promise<number[]> {
  const rested = base['rests-on'] ?? [];
  const between = base.kind === 'sent' && missing.length > 0 ? Math.min(sequence - floor - 1, maxLost) : 0;
  const numbers = [...rested, ...Array.from({ length: Math.max(between, 0) }, (_, at) => sequence - 1 - at)];
  const accepted = await transfers.letIn(source, numbers);
  const lost = new Set(numbers.filter((number) => !accepted.has(number)));
  return [...lost].sort((a, b) => a - b).slice(0, maxLost);
}

/** Returns all signatures of a transfer, and the currently trusted keys among them. */
export function signaturesOn(
  statement: Uint8Array,
  { signatures }: Pick<ReceivedTransfer, 'signatures'>,
  source: Pick<TransferSource, 'keys' | 'scanners'> | undefined,
): Pick<VerifiedTransfer, 'signatures' | 'signers'> {
  const { keys, scanners } = source ?? { keys: [], scanners: [] };
  const signatureList = readSignatures(Buffer.from(signatures));
  const signers = findSigners(statement, signatureList, [...keys, ...scanners]);
  const ofSource = new Set(signers.filter((key) => keys.includes(key)).map(keyIdOf));
  const shown = signatureList.map(({ keyid }) => ({
    fingerprint: fingerprintOfId(keyid),
    'is-of-source': ofSource.has(keyid),
  }));
  return { signatures: shown, signers };
}

/** Verifies the assertions of a transfer: all together, or, if that fails, each revision separately. */
async function believedOf(
  statement: LazyTransferStatement,
  { records, blobs, roots, spool, now }: InspectionContext,
): Promise<Pick<TransferInspection, 'believed' | 'disbelieved'>> {
  const carried = new SpilledAssertions(spool);
  const unusable = new Map<string, string>();
  for (const { 'sha3-384': sha3_384 } of statement.assertions) {
    const bytes = await readBlob(blobs, sha3_384);
    for (const assertion of bytes === undefined ? [] : parseStream(bytes)) {
      // A newer release of the source may know more types.
      const reason = await refusalReason(() => carried.add(assertion));
      if (reason !== undefined) unusable.set(`assertion/${assertion.type}`, reason);
    }
  }
  const disbelieved = Array.from(unusable, ([subject, reason]) => ({ what: subject, why: reason }));
  const looking = { records, roots, now: now() };
  try {
    return { believed: await verifySpooledAssertions(carried, looking), disbelieved };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  const good = carried.createSibling();
  for (const { assertion, subject } of listSeparateAssertions(statement, carried)) {
    const together = inOrder(assertion, (name) => carried.get(name));
    const reason = await refusalReason(() => verifyAssertions(together, looking));
    if (reason === undefined) for (const some of together) good.add(some);
    else disbelieved.push({ what: subject, why: reason });
  }
  return { believed: await verifySpooledAssertions(good, looking), disbelieved };
}

/** Yields the assertions to verify one by one: those of revisions, and those without a package. */
function* listSeparateAssertions(
  { packages }: LazyTransferStatement,
  carried: SpilledAssertions,
): Generator<{ assertion: Assertion; subject: string }> {
  for (const { namespace, name, revisions } of packages) {
    for (const { assertion, revision } of revisions) {
      const carriedAssertion = assertion === undefined ? undefined : carried.get(assertion);
      if (carriedAssertion !== undefined)
        yield { assertion: carriedAssertion, subject: `${namespace}/${name} revision ${String(revision)}` };
    }
  }
  for (const type of standingTypes)
    for (const carriedAssertion of carried.ofType(type))
      yield { assertion: carriedAssertion, subject: nameOf(carriedAssertion) };
}
