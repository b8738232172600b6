// Times in assertions: RFC 3339, with as many digits of a second as there are, and written in UTC with whole seconds.
import { readDateTime } from '#domain/date-time.ts';

/** The moment a text names, to the millisecond; undefined when it is no RFC 3339 date-time of the calendar. */
export const readTime = (text: string): Date | undefined => readDateTime(text, 32);

/** As `snap export-key` writes a time: `2006-01-02T15:04:05Z`. */
export function writeTime(moment: Date): string {
  const year = moment.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new Error('cannot write a time outside of the years 0 to 9999');
  return moment.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
