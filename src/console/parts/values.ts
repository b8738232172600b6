// How times, sizes and durations are shown.
import { html, type Html } from '#api/pages/html.ts';
export { bytes as size } from '#domain/byte-size.ts';
import { days, hours, minutes, seconds } from '#domain/clock.ts';

/** A moment, RFC 3339: in UTC, and by the script of our pages in the reader's zone beside it. */
export const time = (moment: string): Html =>
  html`<time datetime="${moment}">${moment.slice(0, 16).replace('T', ' ')} UTC</time>`;

const lengths = [
  [days(1), 'day'],
  [hours(1), 'hour'],
  [minutes(1), 'minute'],
  [seconds(1), 'second'],
] as const;

/** So many milliseconds in the largest unit of which there is one: `3 days`. */
export function duration(milliseconds: number): string {
  const [length, unit] = lengths.find(([length]) => milliseconds >= length) ?? lengths[3];
  const count = Math.floor(milliseconds / length);
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`;
}

/** How long ago something was, or how soon it will be. */
export function distance(moment: string, now: Date): string {
  const length = now.getTime() - Date.parse(moment);
  if (Math.abs(length) < seconds(1)) return 'now';
  return length > 0 ? `${duration(length)} ago` : `in ${duration(-length)}`;
}

/** A number with its thousands apart: `12 345`, with thin spaces. */
export const count = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, '\u2009');

/** `1 package`, `2 packages`. */
export const counted = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`;
