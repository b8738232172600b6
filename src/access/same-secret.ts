// Compares secrets in constant time.
import { hash, timingSafeEqual } from 'node:crypto';

/** Whether a text equals the secret; the time reveals neither its length nor its beginning. */
export const isSameSecret = (shown: string, secret: string): boolean =>
  timingSafeEqual(digestOf(shown), digestOf(secret));

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');
