// Compares secrets without telling by the time it takes how much of one was right.
import { hash, timingSafeEqual } from 'node:crypto';

/** Whether a shown text is the secret; neither its length nor its beginning shows in the time. */
export const isSameSecret = (shown: string, secret: string): boolean =>
  timingSafeEqual(digestOf(shown), digestOf(secret));

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');
