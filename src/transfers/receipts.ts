// Receipts: what a site says of a transfer that it has let in, signed with its key.
import type { Receipt } from '#acts/transfers.ts';
import { canonical } from './form/canonical.ts';
import { keyIdOf, enclosed } from './form/signatures.ts';
import type { Site } from './site.ts';

const payloadType = 'application/vnd.larder.receipt.v1+json';

/** A DSSE envelope with the receipt as its payload; what would put the channels back is nobody else's. */
export function signedReceipt(
  receipt: Receipt,
  { site, auditHead }: { site: Site; auditHead: { seq: number; hash: string } | null },
): string {
  const said = Object.fromEntries(Object.entries(receipt).filter(([member]) => member !== 'undo'));
  const payload = Buffer.from(canonical({ ...said, site: site.name, 'audit-head': auditHead }));
  const sig = site.seed.sign(enclosed(payload, payloadType)).toString('base64');
  const signatures = [{ keyid: keyIdOf(site.seed.publicKey), sig }];
  return `${JSON.stringify({ payloadType, payload: payload.toString('base64'), signatures }, null, 2)}\n`;
}
