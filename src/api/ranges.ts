// Ranges of bytes, as a client asks for a part of a content (RFC 9110, 14).
import type { IncomingMessage } from 'node:http';

import { Refusal } from '#domain/refusal.ts';

/**
 * The one range of bytes that is asked for (RFC 9110, 14.1.2). What is no such thing is ignored; what lies beyond the end is
 * refused.
 */
export function rangeOf(header: string | undefined, size: number): { start: number; end: number } | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined;
  if (start <= end) return { start, end };
  throw new Refusal('range-invalid', `The blob has ${size} bytes; there is nothing in this range.`, undefined, {
    'content-range': `bytes */${size}`,
  });
}

/** Whether a client that has a part still has a part of this very content (RFC 9110, 13.1.5); a date never says so. */
export const stillHolds = ({ headers }: Pick<IncomingMessage, 'headers'>, etag: string): boolean =>
  headers['if-range'] === undefined || headers['if-range'] === etag;

/** Whether a client has the whole content already (RFC 9110, 13.1.2). */
export const hasAlready = ({ headers }: Pick<IncomingMessage, 'headers'>, etag: string): boolean =>
  (headers['if-none-match'] ?? '').split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()));
