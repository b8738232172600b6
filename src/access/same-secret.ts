// Compares secrets in constant time.
import { computeDigest, timingSafeEqual } from '#domain/cryptography.ts';

/** Whether a text equals the secret; the time reveals neither its length nor its beginning. */
export const isSameSecret = (shown: string, secret: string): boolean =>
  timingSafeEqual(digestOf(shown), digestOf(secret));

const digestOf = (text: string): Buffer => computeDigest('secret', text, 'buffer');
