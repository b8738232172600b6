// Reads and writes times in assertions: reads RFC 3339 with any fraction of a second, writes UTC with whole seconds.
import { readDateTime } from '#domain/date-time.ts';

/** Parses a time to the millisecond; undefined if it is not a valid RFC 3339 date-time. */
export const readTime = (text: string): Date | undefined => readDateTime(text, 32);

/** Writes a time as `snap export-key` does: `2006-01-02T15:04:05Z`. */
export function writeTime(moment: Date): string {
  const year = moment.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new Error('cannot write a time outside of the years 0 to 9999');
  return moment.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
