// Receiving a transfer: its parts are read in any order, on as many visits as it takes; what is not here yet is kept, and
// reviewed, and nothing of it shows before it is let in.
import { randomUUID } from 'node:crypto';

import type { Acts, By } from '#acts/act.ts';
import { receiveTransfer, refuseUnfit } from '#acts/transfers.ts';
import type { TransferStatement } from '#api/wire.ts';
import { timestamp, type Now } from '#domain/clock.ts';
import type { NewIds } from '#domain/ids.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Records } from '#records/index.ts';
import type { TransferSource } from '#records/transfer-sources.ts';
import type { OpenPart } from './form/read.ts';
import { signersOf } from './form/signatures.ts';
import { Intake, type Keeping } from './intake.ts';
import { oneTransfer } from './part-files.ts';
import { reviewAll, type Reviewing } from './reviews.ts';

export interface Receiving extends Keeping, Reviewing {
  /** What it comes on, as whoever carried it calls that. */
  media: string | undefined;
  records: Records;
  acts: Acts;
  by: By;
  newId: Pick<NewIds, 'uuid'>;
  /** What this site is called, where it has a name. */
  site: string | undefined;
  now: Now;
}

export interface Received {
  id: string;
  statement: TransferStatement;
  /** Public keys of the source that have signed it. */
  signers: string[];
  /** The numbers of the parts that hold something which has not come. */
  lacking: number[];
  /** What somebody took out of the folder in which it lay unpacked, by its path there. */
  takenOut: string[];
}

/** Takes in some parts of one transfer; refuses what its source, or who he is to this site, does not let in. */
export async function receive(parts: readonly OpenPart[], receiving: Receiving): Promise<Received> {
  const first = oneTransfer(parts);
  const { statement, id } = first;
  const source = await sourceOf(first, receiving);
  const signers = signedEnough(first, source);
  refuseUnfit(statement, { site: receiving.site, at: timestamp(receiving.now()), floor: source.floor });
  await refuseWithoutRoom(parts, receiving);
  const kept = await receiving.blobs.put(first.bytes, { id: randomUUID() });
  await receiving.acts.do(receiveTransfer, receiving.by, {
    ...{ id, source: source.name, sequence: statement.sequence, statement: kept.sha3_384 },
    ...{ signatures: Buffer.from(first.signatures).toString('utf8'), signers, media: receiving.media },
  });
  const intake = new Intake(statement, id, receiving);
  for (const part of parts) await intake.take(part);
  const lacking = await intake.lacking();
  const takenOut = parts.flatMap((part) => part.takenOut ?? []);
  if (lacking.length === 0 || takenOut.length > 0) await reviewAll(statement, id, receiving);
  return { id, statement, signers, lacking, takenOut: [...new Set(takenOut)] };
}

async function sourceOf({ statement }: OpenPart, { records }: Receiving): Promise<TransferSource> {
  const source = await records.transferSources.find(statement.source);
  if (source !== undefined) return source;
  throw new Refusal(
    'conflict',
    `It comes from '${statement.source}', whom this site does not believe; 'larder site trust' adds a source by its keys.`,
  );
}

function signedEnough({ bytes, given }: OpenPart, { name, keys, threshold }: TransferSource): string[] {
  const signers = signersOf(bytes, given, keys);
  if (signers.length >= threshold) return signers;
  throw new Refusal(
    'conflict',
    `It was signed by ${String(signers.length)} of the keys of '${name}', and this site asks for ${String(threshold)}.`,
  );
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
