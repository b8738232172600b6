// Makes and reads receipts: signed confirmations of accepted transfers.
import type { Receipt } from '#acts/transfers/receipt.ts';
import { signEnvelope, openEnvelope, findEnvelopeSigners } from '../statement/envelopes.ts';
import type { Site } from '../site.ts';

const payloadType = 'application/vnd.larder.receipt.v1+json';

interface ReceiptSigningContext {
  site: Site;
  auditHead: { seq: number; hash: string } | null;
}

/** Returns the public part of a receipt, without the data for its withdrawal. */
export function toPublicReceipt(receipt: Receipt, { site, auditHead }: ReceiptSigningContext) {
  const publicReceipt: Omit<Receipt, 'undo'> & Partial<Receipt> = { ...receipt };
  delete publicReceipt.undo;
  delete publicReceipt.fleets;
  return { ...publicReceipt, site: site.name, 'audit-head': auditHead };
}

/** Returns a DSSE envelope with the receipt as its payload. */
export const signReceipt = (receipt: Receipt, context: ReceiptSigningContext): Promise<string> =>
  signEnvelope(toPublicReceipt(receipt, context), payloadType, context.site.key);

/** Returns the transfer that a receipt confirms, if one of these keys has signed it; else undefined. */
export function parseReceipt(text: string, keys: readonly string[]): { source: string; sequence: number } | undefined {
  const opened = openEnvelope(text, payloadType);
  if (opened === undefined || findEnvelopeSigners(opened, keys).length === 0) return undefined;
  const { source, sequence } = opened.payload as Partial<Receipt>;
  return typeof source === 'string' && Number.isSafeInteger(sequence) ? { source, sequence: sequence! } : undefined;
}
