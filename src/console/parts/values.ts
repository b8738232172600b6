// Formats times, sizes and durations.
import { html, type Html } from '#http/pages/html.ts';
import { noun } from '#domain/quantities.ts';
export { formatBytes as size } from '#domain/byte-size.ts';
export { formatDistance as distance, formatDuration as duration } from '#domain/quantities.ts';

/** A time (RFC 3339) in UTC; our script shows how long ago it is, and the exact time on hover and in print. */
export const time = (moment: string): Html => html`<time datetime="${moment}">${toText(moment)}</time>`;

/** A time (RFC 3339) that is always shown exactly; our script adds the time in the reader's zone. */
export const exactTime = (moment: string): Html =>
  html`<time class="exact" datetime="${moment}">${toText(moment)}</time>`;

/** The exact time of a moment on the day in the heading above it; our script adds the time in the reader's zone. */
export const timeOfDay = (moment: string): Html =>
  html`<time class="exact" datetime="${moment}" title="${moment}">${moment.slice(11, 19)} UTC</time>`;

const toText = (moment: string): string => `${moment.slice(0, 16).replace('T', ' ')} UTC`;

/** An id, a digest or a fingerprint: shortened by the style sheet, complete when it is copied or printed. */
export const identifier = (text: string): Html =>
  html`<span class="copied"><code class="id" title="${text}">${text}</code></span>`;

/** A number with thin spaces between thousands: `12 345`. */
export const count = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, '\u2009');

/** `1 package`, `2 packages`. */
export const formatCount = (number: number, singular: string, plural?: string): string =>
  `${count(number)} ${noun(number, singular, plural)}`;
