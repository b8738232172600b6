// Receiving a transfer: its parts are read in any order, on as many visits as it takes; what is not here yet is kept, and
// reviewed, and nothing of it shows before it is let in.
import type { Acts, By } from '#acts/act.ts';
import { settleFloor, siteNameKept } from '#acts/sites.ts';
import { countSignatures, refuseAdoption } from '#acts/source-trust.ts';
import type { Statement } from '#acts/transfer-statement.ts';
import { receiveTransfer, refuseDoubtfulFloor, refuseUnfit, refuseUnsigned, type Here } from '#acts/transfers.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { TransferSource } from '#records/transfer-sources.ts';
import type { ReceivedTransfer } from '#records/transfers.ts';
import type { OpenPart } from './form/read.ts';
import { maxSignatures, readSignatures, signaturesOf, signersOf, together } from './form/signatures.ts';
import { Intake, type Keeping } from './intake.ts';
import { oneTransfer } from './part-files.ts';
import { keepWhole } from './whole.ts';
import { ReviewsMeanwhile } from './reviews-meanwhile.ts';
import { reviewAll, type Reviewing } from './reviews.ts';

export interface Receiving extends Here, Omit<Keeping, 'came'>, Reviewing {
  /** What it comes on, as whoever carried it calls that. */
  media: string | undefined;
  records: Records;
  acts: Acts;
  by: By;
  newId: Pick<NewIds, 'uuid'>;
  now: Now;
  /** Whether it is a folder that nobody has signed, rather than what a source has. */
  isUnsigned?: boolean;
  /** Whether the folder is a site's former store, which an empty store takes. */
  isAdoption?: boolean;
  /** What says after a restore which number was let in last: the receipt of that, or that nobody knows. */
  lastReceipt?: { source: string; sequence: number } | 'lost' | undefined;
}

export interface Received {
  id: string;
  statement: Statement;
  /** Public keys of the source that have signed it. */
  signers: string[];
  /** The numbers of the parts that hold something which has not come. */
  lacking: number[];
  /** What somebody took out of the folder in which it lay unpacked, by its path there. */
  takenOut: string[];
  /** The transfer, where it was let in before: then nothing is taken in. */
  settled?: ReceivedTransfer;
}

/** Takes in some parts of one transfer; refuses what its source, or who he is to this site, does not let in. */
export async function receive(parts: readonly OpenPart[], receiving: Receiving): Promise<Received> {
  const first = oneTransfer(parts);
  const { statement, id } = first;
  const policy = await receiving.records.approvalPolicy.inForce();
  const { isUnsigned = false, isAdoption = false } = receiving;
  if (isAdoption) await refuseAdoption(receiving.records);
  else if (isUnsigned) refuseUnsigned(policy);
  const source = isUnsigned ? undefined : await sourceOf(first, receiving);
  const given = together(parts.map((part) => part.given));
  const signers = source === undefined ? [] : signedEnough({ bytes: first.bytes, given }, source);
  const before = await receiving.records.transfers.find(id);
  const signatures = withEarlier({ bytes: first.bytes, given }, before, source);
  if (before?.status === 'accepted' || before?.status === 'withdrawn') {
    return { id, statement, signers, lacking: [], takenOut: [], settled: before };
  }
  const floor = source === undefined ? 0 : await floorOf(source, receiving);
  const { site, labels, now } = receiving;
  refuseUnfit(statement, { site, labels, at: timestamp(now()), floor, policy });
  await refuseWithoutRoom(parts, receiving);
  const kept = await keepWhole(first.bytes, receiving.blobs);
  await receiving.acts.do(receiveTransfer, receiving.by, {
    ...{ id, source: statement.source, sequence: statement.sequence, statement: kept.sha3_384 },
    unsigned: isUnsigned ? 1 : 0,
    ...{ signatures, signers, media: receiving.media },
    // What nobody signed shows nothing of who has read a request.
    answers: isUnsigned ? null : (statement.base.request ?? null),
  });
  const meanwhile = new ReviewsMeanwhile(statement, id, receiving);
  const intake = new Intake(statement, id, { ...receiving, came: (sha3_384) => meanwhile.came(sha3_384) });
  try {
    await intake.take(parts);
  } finally {
    await meanwhile.end();
  }
  const lacking = await intake.lacking();
  const takenOut = parts.flatMap((part) => part.takenOut ?? []);
  if (lacking.length === 0 || takenOut.length > 0) await reviewAll(statement, id, receiving);
  return { id, statement, signers, lacking, takenOut: [...new Set(takenOut)] };
}

/** Which number was let in last; after a restore it must be said. */
async function floorOf(source: TransferSource, { records, acts, by, lastReceipt }: Receiving): Promise<number> {
  const { name } = source;
  if (!source.floorInDoubt) return source.floor;
  if (lastReceipt === undefined) refuseDoubtfulFloor(source);
  else if (lastReceipt === 'lost') await acts.do(settleFloor, by, { name });
  else if (lastReceipt.source === name) await acts.do(settleFloor, by, { name, proven: lastReceipt.sequence });
  else
    throw new Refusal(
      'conflict',
      `The receipt is of a transfer of '${lastReceipt.source}', and this one comes from '${name}'.`,
    );
  return (await records.transferSources.find(name))?.floor ?? 0;
}

async function sourceOf({ statement }: OpenPart, { records }: Receiving): Promise<TransferSource> {
  const source = await records.transferSources.find(statement.source);
  if (source !== undefined) return source;
  if ((await records.appliance.find(siteNameKept)) === statement.source) {
    throw new Refusal('conflict', `It was made here, at '${statement.source}': carry it to the site that it is for.`);
  }
  throw new Refusal(
    'conflict',
    `It comes from '${statement.source}', whom this site does not believe; 'larder site trust' adds a source by its keys.`,
  );
}

function signedEnough({ bytes, given }: Pick<OpenPart, 'bytes' | 'given'>, source: TransferSource): string[] {
  return countSignatures(signersOf(bytes, given, [...source.keys, ...source.scanners]), source);
}

/** The signatures to keep: those that came, and those of trusted keys that came before with a transfer that still waits. */
function withEarlier(
  { bytes, given }: Pick<OpenPart, 'bytes' | 'given'>,
  before: ReceivedTransfer | undefined,
  source: TransferSource | undefined,
): string {
  if (before?.status !== 'waiting' || source === undefined) return signaturesOf(given).toString('utf8');
  const keys = [...source.keys, ...source.scanners];
  const isTrusted = (one: (typeof given)[number]): boolean => signersOf(bytes, [one], keys).length > 0;
  const all = together([given, readSignatures(Buffer.from(before.signatures)).filter(isTrusted)]);
  // Signatures of keys that this site does not know may go, so that the list stays within its bounds.
  return signaturesOf(all.length <= maxSignatures ? all : all.filter(isTrusted)).toString('utf8');
}

async function refuseWithoutRoom(parts: readonly OpenPart[], { blobs }: Receiving): Promise<void> {
  const wanted = parts.reduce((sum, { size }) => sum + size, 0);
  const free = await blobs.free();
  if (wanted <= free) return;
  throw new Refusal(
    'insufficient-storage',
    `What came takes up to ${String(Math.ceil(wanted / 2 ** 20))} MiB, and ${String(Math.floor(free / 2 ** 20))} MiB are free; make room first.`,
  );
}
