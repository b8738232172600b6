// Turns an unsigned folder into a transfer. It is received like any other, but no source vouches for it.
import { nobody } from '#acts/transfers.ts';
import type { TransferStatement } from '#api/wire.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { after, days, timestamp, type Now } from '#domain/clock.ts';
import type { Records } from '#records/index.ts';
import { carryingGathered } from './collector.ts';
import { composed } from './composing.ts';
import type { OpenPart } from './form/read.ts';
import { signaturesOf } from './form/signatures.ts';
import { idOf, readStatement } from './form/statement.ts';
import type { FoundInFolder } from './gather/gather.ts';
import { unwrittenIntent, unwrittenParts } from './unwritten.ts';
import { wholeOf } from './whole.ts';

interface Holding {
  records: Pick<Records, 'transfers'>;
  blobs: Pick<Blobs, 'open'>;
  now: Now;
}

/** How long receiving the same folder again continues the waiting transfer. */
const goesOn = days(1);

/**
 * Time and number for the statement of a folder. The time of a waiting transfer is reused, so that the same folder gives the same
 * transfer.
 */
export interface Beginning {
  at: Date;
  next: number;
  /** The last transfer that still waits. */
  waiting: Pick<TransferStatement, 'sequence'> | undefined;
  id: string | undefined;
}

export async function beginUnsigned({ records, blobs, now }: Holding): Promise<Beginning> {
  const newest = await records.transfers.newestUnsigned();
  const kept = newest?.status === 'waiting' ? await wholeOf(blobs, newest.statement) : undefined;
  const said = kept && readStatement(kept);
  const isOld = said !== undefined && said.created < timestamp(after(now(), -goesOn));
  const waiting = isOld ? undefined : said;
  return {
    at: new Date(waiting?.created ?? timestamp(now())),
    ...{ next: (newest?.sequence ?? 0) + 1, waiting, id: newest?.id },
  };
}

/** Returns the gathered packages as parts of a transfer. */
export async function unsignedParts(
  found: FoundInFolder,
  folder: string,
  { at, next, waiting, id }: Beginning,
): Promise<OpenPart[]> {
  const { carrying, ...bytes } = carryingGathered(found);
  const as = (sequence: number) =>
    composed(carrying, unwrittenIntent, { source: nobody.name, sequence, at, label: undefined, ...bytes });
  const again = waiting && (await as(waiting.sequence));
  const transfer = again !== undefined && idOf(again.bytes) === id ? again : await as(next);
  return unwrittenParts({ ...transfer, signatures: signaturesOf([]) }, bytes.content, folder, []);
}
