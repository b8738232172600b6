// Counts and lengths of time as people read them: `1 package`, `3 days ago`. Terminal, console and log share these.
import { days, hours, minutes, seconds } from './clock.ts';

/** The noun in the number that goes with a count. */
export const noun = (count: number, one: string, several = `${one}s`): string => (count === 1 ? one : several);

/** `1 package`, `2 packages`, `0 packages`. */
export const counted = (count: number, one: string, several?: string): string =>
  `${String(count)} ${noun(count, one, several)}`;

const units = [
  [days(1), 'day'],
  [hours(1), 'hour'],
  [minutes(1), 'minute'],
  [seconds(1), 'second'],
] as const;

/** Milliseconds in the largest unit of which there is at least one: `3 days`. */
export function duration(milliseconds: number): string {
  const [length, unit] = units.find(([length]) => milliseconds >= length) ?? units[3];
  return counted(Math.floor(milliseconds / length), unit);
}

/** How long ago a moment (RFC 3339) was, or how soon it will be: `2 hours ago`, `now`, `in 5 minutes`. */
export function distance(moment: string, now: Date): string {
  const length = now.getTime() - Date.parse(moment);
  if (Math.abs(length) < seconds(1)) return 'now';
  return length > 0 ? `${duration(length)} ago` : `in ${duration(-length)}`;
}
