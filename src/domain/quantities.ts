// Formats counts and durations for people: `1 package`, `3 days ago`. Used by the terminal, the console and the log.
import { days, hours, minutes, seconds } from './clock.ts';

/** The singular or plural of a noun for a count. */
export const noun = (count: number, singular: string, several = `${singular}s`): string =>
  count === 1 ? singular : several;

/** `1 package`, `2 packages`, `0 packages`. */
export const formatCount = (count: number, singular: string, several?: string): string =>
  `${String(count)} ${noun(count, singular, several)}`;

const units = [
  [days(1), 'day'],
  [hours(1), 'hour'],
  [minutes(1), 'minute'],
  [seconds(1), 'second'],
] as const;

/** Formats milliseconds in the largest unit that fits at least once: `3 days`. */
export function formatDuration(milliseconds: number): string {
  const [length, unit] = units.find(([length]) => milliseconds >= length) ?? units[3];
  return formatCount(Math.floor(milliseconds / length), unit);
}

/** The distance of a moment (RFC 3339) from now: `2 hours ago`, `now`, `in 5 minutes`. */
export function formatDistance(moment: string, now: Date): string {
  const length = now.getTime() - Date.parse(moment);
  if (Math.abs(length) < seconds(1)) return 'now';
  return length > 0 ? `${formatDuration(length)} ago` : `in ${formatDuration(-length)}`;
}
