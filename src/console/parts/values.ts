// Formats times, sizes and durations.
import { html, type Html, type HtmlContent } from '#http/pages/html.ts';
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

const momentPattern = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`;
/** Digests in hexadecimal and base64url, and fingerprints in groups. */
const idPattern = String.raw`[0-9a-f]{32,}|(?=[\w-]*[A-Z])[\w-]{64}|(?:[0-9a-f]{4}-){7}[0-9a-f]{4}`;
const parts = new RegExp(String.raw`(?<![\w-])(${momentPattern}|${idPattern})(?![\w-])`);
const isMoment = new RegExp(`^${momentPattern}$`);

/** A sentence of a report for a page: its times as everywhere, its ids and digests shortened. */
export const withValues = (sentence: string): HtmlContent =>
  sentence
    .split(parts)
    .map((part, at) => (at % 2 === 0 ? part : isMoment.test(part) ? exactTime(part) : identifier(part)));

/** Letters that are written from right to left, and characters that change the direction. */
const isDirected =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Bidi_Control}]/u;

/** The name of a person or a brand in a title, so that its direction ends with it; other texts use the element `bdi`. */
export const isolated = (name: string): string => (isDirected.test(name) ? `\u2068${name}\u2069` : name);

/** A number with thin spaces between thousands: `12 345`. */
export const count = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, '\u2009');

/** `1 package`, `2 packages`. */
export const formatCount = (number: number, singular: string, plural?: string): string =>
  `${count(number)} ${noun(number, singular, plural)}`;
