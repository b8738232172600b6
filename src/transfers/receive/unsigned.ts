// Turns an unsigned folder into a transfer. It is received like any other, but no source vouches for it.
import { unsignedSource } from '#acts/transfers/acceptance-conditions.ts';
import type { TransferStatement } from '#contract/wire.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { after, days, timestamp, type Now } from '#domain/clock.ts';
import type { StoreRecords } from '#records/index.ts';
import { prepareGathered } from '../make/collector.ts';
import { composeUnsigned } from '../make/compose.ts';
import type { OpenPart } from '../parts/open-part.ts';
import { serializeSignatures } from '../statement/signatures.ts';
import { idOf, readStatement } from '../statement/statement.ts';
import type { GatheredFolder } from '../gather/gather.ts';
import { unwrittenIntent, unwrittenParts } from '../parts/in-memory-parts.ts';
import { readBlob } from '../blob-bytes.ts';

interface UnsignedContext {
  records: Pick<StoreRecords, 'transfers'>;
  blobs: Pick<Blobs, 'open'>;
  now: Now;
}

/** How long receiving the same folder again continues the waiting transfer. */
const resumeWindowMs = days(1);

/**
 * The time and number for the statement of an unsigned folder. If the last such transfer still waits for acceptance, its time is reused, so
 * that the same folder gives the same transfer id.
 */
export interface UnsignedStart {
  at: Date;
  next: number;
  /** The last transfer that still waits. */
  waiting: Pick<TransferStatement, 'sequence'> | undefined;
  id: string | undefined;
}

export async function beginUnsigned({ records, blobs, now }: UnsignedContext): Promise<UnsignedStart> {
  const newest = await records.transfers.newestUnsigned();
  const statementBytes = newest?.status === 'waiting' ? await readBlob(blobs, newest.statement) : undefined;
  const statement = statementBytes && readStatement(statementBytes);
  const isOld = statement !== undefined && statement.created < timestamp(after(now(), -resumeWindowMs));
  const waiting = isOld ? undefined : statement;
  return {
    at: new Date(waiting?.created ?? timestamp(now())),
    next: (newest?.sequence ?? 0) + 1,
    waiting,
    id: newest?.id,
  };
}

/** Returns the gathered packages as parts of a transfer. */
export async function unsignedParts(
  gathered: GatheredFolder,
  folder: string,
  { at, next, waiting, id }: UnsignedStart,
): Promise<OpenPart[]> {
  const { carrying, ...bytes } = prepareGathered(gathered);
  const as = (sequence: number) =>
    composeUnsigned(carrying, unwrittenIntent, {
      source: unsignedSource.name,
      sequence,
      at,
      label: undefined,
      ...bytes,
    });
  const again = waiting && (await as(waiting.sequence));
  const transfer = again !== undefined && idOf(again.bytes) === id ? again : await as(next);
  return unwrittenParts({ ...transfer, signatures: serializeSignatures([]) }, bytes.content, folder, []);
}
