// Refresh windows: the hours of the week when the devices of a fleet get new revisions by themselves.

/** A parsed window, such as `Sat 02:00-05:00 UTC`. */
export interface RefreshWindow {
  /** In one spelling, so that two equal windows have equal texts. */
  readonly text: string;
  /** The first day of each window, from 0 for Monday. */
  readonly days: readonly number[];
  /** Minutes since midnight in the zone. If the end is not after the start, the window ends on the next day. */
  readonly start: number;
  readonly end: number;
  readonly clock: Intl.DateTimeFormat;
}

const dayNames = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const week = 7 * 24 * 60;
const day = 24 * 60;

export const windowForm = "'Sat 02:00-05:00 UTC', 'Mon-Fri 22:00-04:00 Europe/Berlin' or 'daily 01:00-03:00 UTC'";

/** Parses a window. Returns the problem as a sentence if the text is none. */
export function parseRefreshWindow(text: string): RefreshWindow | { problem: string } {
  const form = `Write the days, the hours and the time zone, such as ${windowForm}.`;
  const [, daysText = '', from = '', to = '', zone = ''] =
    /^([A-Za-z,-]{3,40}) (\d\d:\d\d)-(\d\d:\d\d) ([A-Za-z0-9_+/-]{1,64})$/.exec(text.trim()) ?? [];
  if (zone === '') return { problem: `'${text.slice(0, 80)}' is not a refresh window. ${form}` };
  const days = parseDays(daysText);
  if (days === undefined) return { problem: `'${daysText}' names no days. Write Mon, Sat,Sun, Mon-Fri or daily.` };
  const [start, end] = [minuteOf(from), minuteOf(to)];
  if (start === undefined || start === day || end === undefined)
    return { problem: `'${from}-${to}' are no hours of a day. Write 02:00-05:00; a whole day is 00:00-24:00.` };
  if (start === end)
    return { problem: `The window from ${from} to ${to} is empty. For a whole day write 00:00-24:00.` };
  const clock = clockOf(zone);
  if (clock === undefined)
    return { problem: `'${zone}' is not a time zone. Write UTC or a name such as Europe/Berlin.` };
  const dayText = days.length === 7 ? 'daily' : days.map((number) => dayNames[number]!).join(',');
  return { text: `${dayText} ${from}-${to} ${clock.resolvedOptions().timeZone}`, days, start, end, clock };
}

/** The numbers of the days in ascending order; undefined if the text names none. */
function parseDays(text: string): number[] | undefined {
  if (text === 'daily') return dayNames.map((_, number) => number);
  const numbers = new Set<number>();
  for (const part of text.split(',')) {
    const range = part.split('-').map((name) => dayNames.findIndex((dayName) => dayName === name));
    const [first = -1, last = first] = range;
    if (range.length > 2 || range.includes(-1)) return undefined;
    // A range can go over the end of the week: Sat-Mon.
    for (let number = first; ; number = (number + 1) % 7) {
      numbers.add(number);
      if (number === last) break;
    }
  }
  return [...numbers].sort((a, b) => a - b);
}

function minuteOf(text: string): number | undefined {
  const [hour = NaN, minute = NaN] = text.split(':').map(Number);
  const total = hour * 60 + minute;
  return minute < 60 && total <= day ? total : undefined;
}

function clockOf(zone: string): Intl.DateTimeFormat | undefined {
  try {
    const options = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: zone } as const;
    return new Intl.DateTimeFormat('en-US', options);
  } catch {
    return undefined;
  }
}

/** Whether a window is open. Its hours are those of the clocks in its zone, so they move with daylight saving time. */
export function isWindowOpen({ days, start, end, clock }: RefreshWindow, now: Date): boolean {
  const parts = new Map(clock.formatToParts(now).map(({ type, value }) => [type, value]));
  const weekday = dayNames.findIndex((name) => name === parts.get('weekday'));
  const minute = weekday * day + Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
  const length = end > start ? end - start : end + day - start;
  return days.some((number) => (minute - (number * day + start) + week) % week < length);
}
