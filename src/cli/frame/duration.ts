// Parses durations on a command line: 90s, 30m, 24h, 14d.
import { days, hours, minutes, seconds } from '#domain/clock.ts';
import { UsageError } from './command.ts';

const units = { s: seconds(1), m: minutes(1), h: hours(1), d: days(1) } as const;

/** Returns a duration in milliseconds, `most` at most; errors call it `option`. */
export function readDuration(text: string, option: string, maxMs: number): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (unit === '') throw new UsageError(`${option} is a length of time such as 90s, 30m, 24h or 14d, not '${text}'`);
  const length = Number(count) * units[unit as keyof typeof units];
  if (length <= maxMs) return length;
  throw new UsageError(`${option} is at most ${String(maxMs / days(1))}d, not ${text}`);
}
