// A folder that nobody has signed, as the transfer that it would be: it comes in by the same way, and on nobody's word.
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

/** For so long the same folder once more goes on with what waits of it. */
const goesOn = days(1);

/** What a folder is told with: the time of what waits, so that the same folder once more is the same. */
export interface Beginning {
  at: Date;
  next: number;
  /** The last that waits. */
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

/** The parts of what was gathered. */
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
