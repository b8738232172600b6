// Parses durations and timers of apps as snapd does (Go's time.ParseDuration, snapd's timeutil/schedule.go).

const units: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, m: 60e9, h: 3600e9 };

/** Parses a duration such as `1m30s` to nanoseconds; undefined if it is invalid. */
export function parseDuration(text: string): number | undefined {
  const negative = text.startsWith('-');
  const rest = /^[+-]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return 0;
  if (rest === '' || rest.length > 1000) return undefined;
  let total = 0;
  let at = 0;
  const part = /([0-9]*)(\.[0-9]*)?([^0-9.]+)/y;
  while (at < rest.length) {
    part.lastIndex = at;
    const [whole, digits = '', fraction = '', unit = ''] = part.exec(rest) ?? [];
    const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
    if (whole === undefined || factor === undefined || digits + fraction.slice(1) === '') return undefined;
    total += Number(`${digits}${fraction}` || 'x') * factor;
    at += whole.length;
  }
  if (!(total <= 2 ** 63) || (total === 2 ** 63 && !negative)) return undefined;
  return negative ? -total : total;
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const isClock = (text: string): boolean => /^(?:[0-9]|0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]$|^24:00$/.test(text);

/** Whether a text is a timer such as `mon-fri,9:00-17:00/4,,sat1,10:00~12:00`. */
export const isTimer = (text: string): boolean => text.split(',,').every(isEventSet);

function isEventSet(text: string): boolean {
  let expectsTime = false;
  for (const fragment of text.split(',')) {
    if (fragment.includes(':')) {
      if (!isClockSpan(fragment)) return false;
      expectsTime = true;
    } else if (expectsTime || !isWeekSpan(fragment)) return false;
  }
  return true;
}

function isWeekSpan(text: string): boolean {
  const days = text.split('-');
  if (days.length > 2 || !days.every((day) => /^[a-z]{3}[1-5]?$/.test(day) && weekdays.includes(day.slice(0, 3))))
    return false;
  const [start, end] = days.map((day) => Number(day.slice(3)));
  return start === 0 || end === undefined || end === 0 || end >= start!;
}

function isClockSpan(text: string): boolean {
  const [span = '', count, ...others] = text.split('/');
  const isCount = count === undefined || (/^\d+$/.test(count) && Number(count) > 0 && Number(count) < 2 ** 32);
  if (others.length > 0 || !isCount) return false;
  const spread = span.replace('~', '-');
  const [start = '', ...rest] = spread.split('-');
  if (spread === '-') return true;
  if (rest.length === 0) return isClock(start);
  return isClock(start) && isClock(rest.join('-'));
}
