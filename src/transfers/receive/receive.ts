// Receives a transfer: reads its parts in any order and over several visits, stores and reviews new contents. Nothing becomes visible
// before the transfer is accepted.
import type { Acts, Actor } from '#acts/act.ts';
import { settleFloor, siteNameSetting } from '#acts/sites/sites.ts';
import { countSignatures, refuseAdoption } from '#acts/sites/source-trust.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import { receiveTransfer } from '#acts/transfers/transfers.ts';
import {
  refuseDoubtfulFloor,
  refuseUnfit,
  refuseUnsigned,
  type ReceivingSite,
} from '#acts/transfers/acceptance-conditions.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import type { StoreRecords } from '#records/index.ts';
import type { TransferSource } from '#records/sites/transfer-sources.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import type { OpenPart } from '../parts/open-part.ts';
import {
  maxSignatures,
  readSignatures,
  serializeSignatures,
  findSigners,
  mergeSignatures,
} from '../statement/signatures.ts';
import { TransferContentReceiver, type TransferContentReceiverOptions } from './content-receiver.ts';
import { oneTransfer } from '../parts/part-files.ts';
import { storeBytes } from '../blob-bytes.ts';
import { ConcurrentReviews } from '../review/concurrent-reviews.ts';
import { reviewTransfer, type TransferReviewContext } from '../review/reviews.ts';

export interface TransferReceiveContext
  extends ReceivingSite, Omit<TransferContentReceiverOptions, 'came'>, TransferReviewContext {
  /** Name of the medium, as given by the person who carries it. */
  media: string | undefined;
  records: StoreRecords;
  acts: Acts;
  actor: Actor;
  newId: Pick<NewIds, 'uuid'>;
  now: Now;
  /** Whether this is an unsigned folder instead of a transfer from a source. */
  isUnsigned?: boolean;
  /** After a restore: the receipt of the last accepted transfer, or 'lost' if its number is unknown. */
  lastReceipt?: { source: string; sequence: number } | 'lost' | undefined;
}

export interface TransferReceiveResult {
  id: string;
  statement: LazyTransferStatement;
  /** Public keys of the source that have signed it. */
  signers: string[];
  /** Numbers of the parts with missing contents. */
  lacking: number[];
  /** Paths that were removed from the folder of an unpacked transfer. */
  takenOut: string[];
  /** The earlier record if the transfer was already settled; then nothing is received. */
  settled?: ReceivedTransfer;
}

/** Receives parts of one transfer. Refuses a transfer that its source is not trusted for or that this site does not allow. */
export async function receive(
  parts: readonly OpenPart[],
  receiving: TransferReceiveContext,
): Promise<TransferReceiveResult> {
  const first = oneTransfer(parts);
  const { statement, id } = first;
  const policy = await receiving.records.approvalPolicy.inForce();
  const { isUnsigned = false, isAdoption = false } = receiving;
  if (isAdoption) await refuseAdoption(receiving.records);
  else if (isUnsigned) refuseUnsigned(policy);
  const source = isUnsigned ? undefined : await sourceOf(first, receiving);
  const signatureList = mergeSignatures(parts.map((part) => part.signatureList));
  const signers = source === undefined ? [] : signedEnough({ bytes: first.bytes, signatureList }, source);
  const before = await receiving.records.transfers.find(id);
  const signatures = withEarlier({ bytes: first.bytes, signatureList }, before, source);
  if (before?.status === 'accepted' || before?.status === 'withdrawn') {
    return { id, statement, signers, lacking: [], takenOut: [], settled: before };
  }
  const floor = source === undefined ? 0 : await floorOf(source, receiving);
  const { site, labels, now } = receiving;
  refuseUnfit(statement, { site, labels, at: timestamp(now()), floor, policy });
  await refuseWithoutRoom(parts, receiving);
  const storedStatement = await storeBytes(first.bytes, receiving.blobs);
  await receiving.acts.do(receiveTransfer, receiving.actor, {
    id,
    source: statement.source,
    sequence: statement.sequence,
    statement: storedStatement.sha3_384,
    unsigned: isUnsigned ? 1 : 0,
    signatures,
    signers,
    media: receiving.media,
    // An unsigned transfer does not prove that its sender has read the request.
    answers: isUnsigned ? null : (statement.base.request ?? null),
  });
  const meanwhile = new ConcurrentReviews(statement, id, receiving);
  const intake = new TransferContentReceiver(statement, id, {
    ...receiving,
    came: (sha3_384) => meanwhile.came(sha3_384),
  });
  try {
    await intake.take(parts);
  } finally {
    await meanwhile.end();
  }
  const lacking = await intake.lacking();
  const takenOut = parts.flatMap((part) => part.takenOut ?? []);
  if (lacking.length === 0 || takenOut.length > 0) await reviewTransfer(statement, id, receiving);
  return { id, statement, signers, lacking, takenOut: [...new Set(takenOut)] };
}

/** Returns the number of the last accepted transfer. After a restore the caller must provide it. */
async function floorOf(
  source: TransferSource,
  { records, acts, actor, lastReceipt }: TransferReceiveContext,
): Promise<number> {
  const { name } = source;
  if (!source.floorInDoubt) return source.floor;
  if (lastReceipt === undefined) refuseDoubtfulFloor(source);
  else if (lastReceipt === 'lost') await acts.do(settleFloor, actor, { name });
  else if (lastReceipt.source === name) await acts.do(settleFloor, actor, { name, proven: lastReceipt.sequence });
  else
    throw new Refusal(
      'conflict',
      `The receipt is for a transfer of '${lastReceipt.source}', but this transfer comes from '${name}'.`,
    );
  return (await records.transferSources.find(name))?.floor ?? 0;
}

async function sourceOf({ statement }: OpenPart, { records }: TransferReceiveContext): Promise<TransferSource> {
  const source = await records.transferSources.find(statement.source);
  if (source !== undefined) return source;
  if ((await records.appliance.find(siteNameSetting)) === statement.source) {
    throw new Refusal(
      'conflict',
      `The transfer was made here, at '${statement.source}'. Take it to the site that it is for.`,
    );
  }
  throw new Refusal(
    'conflict',
    `The transfer comes from '${statement.source}', and this site does not trust that source. Add a source by its keys with 'larder site trust'.`,
  );
}

function signedEnough(
  { bytes, signatureList }: Pick<OpenPart, 'bytes' | 'signatureList'>,
  source: TransferSource,
): string[] {
  return countSignatures(findSigners(bytes, signatureList, [...source.keys, ...source.scanners]), source);
}

/** Returns the signatures to store: the received ones, and earlier ones by trusted keys if the transfer still waits. */
function withEarlier(
  { bytes, signatureList }: Pick<OpenPart, 'bytes' | 'signatureList'>,
  before: ReceivedTransfer | undefined,
  source: TransferSource | undefined,
): string {
  if (before?.status !== 'waiting' || source === undefined) return serializeSignatures(signatureList).toString('utf8');
  const keys = [...source.keys, ...source.scanners];
  const isTrusted = (signature: (typeof signatureList)[number]): boolean =>
    findSigners(bytes, [signature], keys).length > 0;
  const all = mergeSignatures([signatureList, readSignatures(Buffer.from(before.signatures)).filter(isTrusted)]);
  // If the list is too long, drop signatures by unknown keys.
  return serializeSignatures(all.length <= maxSignatures ? all : all.filter(isTrusted)).toString('utf8');
}

async function refuseWithoutRoom(parts: readonly OpenPart[], { blobs }: TransferReceiveContext): Promise<void> {
  const requiredBytes = parts.reduce((sum, { size }) => sum + size, 0);
  const free = await blobs.free();
  if (requiredBytes <= free) return;
  throw new Refusal(
    'insufficient-storage',
    `The transfer takes up to ${String(Math.ceil(requiredBytes / 2 ** 20))} MiB, but only ${String(Math.floor(free / 2 ** 20))} MiB are free. Free space first.`,
  );
}
