// Receipts: what a site says of a transfer that it has let in, signed with its key.
import type { Receipt } from '#acts/transfers.ts';
import { canonical } from './form/canonical.ts';
import { keyIdOf, enclosed } from './form/signatures.ts';
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
export function signedReceipt(receipt: Receipt, told: Told): string {
  const { seed } = told.site;
  const payload = Buffer.from(canonical(receiptTold(receipt, told)));
  const sig = seed.sign(enclosed(payload, payloadType)).toString('base64');
  const signatures = [{ keyid: keyIdOf(seed.publicKey), sig }];
  return `${JSON.stringify({ payloadType, payload: payload.toString('base64'), signatures }, null, 2)}\n`;
}
