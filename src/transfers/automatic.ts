// Accepts received transfers automatically if their source allows it, and records why a transfer needs a person.
import type { By } from '#acts/act.ts';
import { whyItWaits, type Receipt } from '#acts/transfers.ts';
import { Refusal } from '#domain/refusal.ts';
import { withSpool } from '#files/spool.ts';
import { heldUntil } from './intake.ts';
import { letIn, whole, type LettingIn } from './letting-in.ts';
import { broughtBy, type Looking } from './look.ts';

export interface Accepting extends LettingIn, Omit<Looking, 'spool'> {
  by: By;
}

/**
 * Accepts a completely received transfer, or returns why it must wait. Returns undefined if the transfer is not eligible: not waiting,
 * unsigned, or from a source without automatic acceptance.
 */
export async function acceptAutomatically(
  id: string,
  accepting: Accepting,
): Promise<{ receipt: Receipt } | { why: string } | undefined> {
  const { records, by } = accepting;
  const transfer = await records.transfers.find(id);
  if (transfer?.status !== 'waiting' || transfer.unsigned === 1) return undefined;
  if ((await records.transferSources.find(transfer.source))?.accept !== 'automatic') return undefined;
  return withSpool(accepting.directory, async (spool) => {
    const brought = await broughtBy(transfer, { ...accepting, spool });
    try {
      const wanted = { ...brought, narrowed: whole, seen: undefined, isAutomatic: true };
      return { receipt: await letIn(accepting, wanted, by) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const why = error.message;
      await records.passing(({ transfers }) =>
        transfers.found(id, { subject: whyItWaits, findings: null, refused: why }, heldUntil(brought.statement)),
      );
      return { why };
    }
  });
}
