// How times, sizes and durations are shown.
import { html, type Html } from '#api/pages/html.ts';
import { noun } from '#domain/quantities.ts';
export { bytes as size } from '#domain/byte-size.ts';
export { distance, duration } from '#domain/quantities.ts';

/** A moment, RFC 3339: in UTC, and by the script of our pages in the reader's zone beside it. */
export const time = (moment: string): Html =>
  html`<time datetime="${moment}">${moment.slice(0, 16).replace('T', ' ')} UTC</time>`;

/** A number with its thousands apart: `12 345`, with thin spaces. */
export const count = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, '\u2009');

/** `1 package`, `2 packages`. */
export const counted = (number: number, one: string, many?: string): string =>
  `${count(number)} ${noun(number, one, many)}`;
