// Formats times, sizes and durations.
import { html, type Html } from '#http/pages/html.ts';
import { noun } from '#domain/quantities.ts';
export { formatBytes as size } from '#domain/byte-size.ts';
export { formatDistance as distance, formatDuration as duration } from '#domain/quantities.ts';

/** A time (RFC 3339) in UTC; our script adds the time in the reader's zone. */
export const time = (moment: string): Html =>
  html`<time datetime="${moment}">${moment.slice(0, 16).replace('T', ' ')} UTC</time>`;

/** A number with thin spaces between thousands: `12 345`. */
export const count = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, '\u2009');

/** `1 package`, `2 packages`. */
export const formatCount = (number: number, singular: string, plural?: string): string =>
  `${count(number)} ${noun(number, singular, plural)}`;
