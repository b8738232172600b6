// Accepts received transfers automatically if their source allows it, and records why a transfer needs a person.
import type { Actor } from '#acts/act.ts';
import { waitReasonSubject } from '#acts/transfers/automatic.ts';
import type { Receipt } from '#acts/transfers/receipt.ts';
import { wholeTransfer } from '#acts/transfers/plan-types.ts';
import { Refusal } from '#domain/refusal.ts';
import { withSpillFile } from '#files/spill-file.ts';
import { heldUntil } from '../receive/content-receiver.ts';
import { acceptReceivedTransfer, type AcceptanceContext } from './acceptance.ts';
import { verifyReceived, type InspectionContext } from './inspect.ts';

export interface AutomaticAcceptanceContext extends AcceptanceContext, Omit<InspectionContext, 'spool'> {
  actor: Actor;
}

/**
 * Accepts a completely received transfer, or returns why it must wait. Returns undefined if the transfer is not eligible: not waiting,
 * unsigned, or from a source without automatic acceptance.
 */
export async function acceptAutomatically(
  id: string,
  accepting: AutomaticAcceptanceContext,
): Promise<{ receipt: Receipt } | { reason: string } | undefined> {
  const { records, actor } = accepting;
  const transfer = await records.transfers.find(id);
  if (transfer?.status !== 'waiting' || transfer.unsigned === 1) return undefined;
  if ((await records.transferSources.find(transfer.source))?.accept !== 'automatic') return undefined;
  return withSpillFile(accepting.directory, async (spool) => {
    const brought = await verifyReceived(transfer, { ...accepting, spool });
    try {
      const acceptance = { ...brought, ...wholeTransfer, seen: undefined, isAutomatic: true };
      return { receipt: await acceptReceivedTransfer(accepting, acceptance, actor) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const reason = error.message;
      await records.ephemeral(({ transfers }) =>
        transfers.found(
          id,
          { subject: waitReasonSubject, findings: null, refused: reason },
          heldUntil(brought.statement),
        ),
      );
      return { reason };
    }
  });
}
