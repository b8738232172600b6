// Lets in by itself what has come of a source that may do so; what has to wait for people keeps why.
import { rm } from 'node:fs/promises';

import type { Acts, By } from '#acts/act.ts';
import { acceptTransfer } from '#acts/transfer-accept.ts';
import { whyItWaits, type Here, type Receipt } from '#acts/transfers.ts';
import { Refusal } from '#domain/refusal.ts';
import { heldUntil, piecesOf } from './intake.ts';
import { broughtBy, digestOf, type Looking } from './look.ts';

export interface Accepting extends Here, Looking {
  acts: Acts;
  by: By;
  /** The data directory. */
  directory: string;
}

/** Lets a transfer in that is here as a whole; nothing where its source is not one of those. */
export async function acceptAutomatically(
  id: string,
  accepting: Accepting,
): Promise<{ receipt: Receipt } | { why: string } | undefined> {
  const { records, acts, by, site, labels, directory } = accepting;
  const transfer = await records.transfers.find(id);
  if (transfer?.status !== 'waiting' || transfer.unsigned === 1) return undefined;
  if ((await records.transferSources.find(transfer.source))?.accept !== 'automatic') return undefined;
  const { statement, believed } = await broughtBy(transfer, accepting);
  const all = { only: [], without: [], asChannel: [], seen: undefined, digestOf };
  try {
    const receipt = await acts.do(acceptTransfer, by, {
      ...{ id, statement, site, labels, believed, ...all },
      isAutomatic: true,
    });
    await rm(piecesOf(directory, id), { recursive: true, force: true });
    return { receipt };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const why = error.message;
    await records.passing(({ transfers }) =>
      transfers.found(id, { subject: whyItWaits, findings: null, refused: why }, heldUntil(statement)),
    );
    return { why };
  }
}
