// Lists the staged transfers of a source, and whether they can still be accepted after a change of the source.
import { requireTrustedSource } from '#acts/sites/source-trust.ts';
import { withBlobs } from '#data/blobs.ts';
import { timestamp } from '#domain/clock.ts';
import { refusalReason } from '#domain/refusal.ts';
import type { ReceivedTransfer } from '#records/transfers/transfers.ts';
import { acceptanceContextOf } from '#transfers/accept/desk.ts';
import { readStatement } from '#transfers/statement/statement.ts';
import { signaturesOn } from '#transfers/accept/inspect.ts';
import { shortId } from '#transfers/site.ts';
import { readBlob } from '#transfers/blob-bytes.ts';
import type { OpenStore } from '../frame/store.ts';
import { visible } from '../frame/terminal.ts';

export interface StagedTransferOfSource {
  id: string;
  sequence: number;
  /** Why it cannot be accepted now; null if it can. */
  refused: string | null;
}

/** Maximum number of transfers listed; each requires reading a statement. */
const maxListed = 50;

/** The staged transfers of a source, checked with the present trust in the source. */
export async function listStagedTransfers(name: string, store: OpenStore): Promise<StagedTransferOfSource[]> {
  const transfers = (await store.records.transfers.waiting(1000)).filter(
    ({ source, unsigned }) => source === name && unsigned === 0,
  );
  const waiting: StagedTransferOfSource[] = [];
  for (const transfer of transfers.slice(0, maxListed)) {
    const { id, sequence } = transfer;
    waiting.push({ id, sequence, refused: (await whyRefused(transfer, store)) ?? null });
  }
  return waiting;
}

async function whyRefused(transfer: ReceivedTransfer, store: OpenStore): Promise<string | undefined> {
  const { records, now } = store;
  const bytes = await withBlobs(store, ({ blobs }) => readBlob(blobs, transfer.statement), { onlyReads: true });
  if (bytes === undefined) return 'Its statement is missing.';
  const { signers } = signaturesOn(bytes, transfer, await records.transferSources.find(transfer.source));
  const { site, labels } = await acceptanceContextOf(store);
  return refusalReason(() => {
    const waiting = { id: transfer.id, statement: readStatement(bytes), signers, site, labels };
    return requireTrustedSource(records, waiting, timestamp(now()));
  });
}

/** The list for people; empty if there are none. */
export const formatStagedTransfers = (waiting: readonly StagedTransferOfSource[]): string[] =>
  waiting.map(({ id, sequence, refused }) => {
    const called = `Transfer ${shortId(id)}, number ${String(sequence)}, waits here`;
    return refused === null
      ? `${called} and can still be accepted.`
      : `${called} and cannot be accepted: ${visible(refused)}`;
  });
