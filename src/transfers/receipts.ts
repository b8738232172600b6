// Receipts: what a site says of a transfer that it has let in, signed with its key.
import type { Receipt } from '#acts/transfers.ts';
import { enveloped, openEnvelope, whoSigned } from './form/envelopes.ts';
import type { Site } from './site.ts';

const payloadType = 'application/vnd.larder.receipt.v1+json';

interface Told {
  site: Site;
  auditHead: { seq: number; hash: string } | null;
}

/** What others are told of it; what would put the channels back is nobody else's. */
export function receiptTold(receipt: Receipt, { site, auditHead }: Told) {
  const said: Omit<Receipt, 'undo'> & Partial<Receipt> = { ...receipt };
  delete said.undo;
  return { ...said, site: site.name, 'audit-head': auditHead };
}

/** A DSSE envelope with the receipt as its payload. */
export const signedReceipt = (receipt: Receipt, told: Told): string =>
  enveloped(receiptTold(receipt, told), payloadType, told.site.seed);

/** Of which transfer a receipt is that one of these keys has signed. */
export function toldInReceipt(text: string, keys: readonly string[]): { source: string; sequence: number } | undefined {
  const opened = openEnvelope(text, payloadType);
  if (opened === undefined || whoSigned(opened, keys).length === 0) return undefined;
  const { source, sequence } = opened.payload as Partial<Receipt>;
  return typeof source === 'string' && Number.isSafeInteger(sequence) ? { source, sequence: sequence! } : undefined;
}
