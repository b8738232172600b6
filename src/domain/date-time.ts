// A strict parser of RFC 3339 date-times, used everywhere.

const shape =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,32}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * Parses a date-time, to the millisecond. Returns undefined if it is not an RFC 3339 date-time with a zone and an
 * existing day. `digits` is the maximum number of fraction digits, at most 32.
 */
export function readDateTime(text: string, digits = 9): Date | undefined {
  const match = shape.exec(text);
  if (!match || (match[7]?.length ?? 0) > digits) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const moment = new Date(0);
  // Date.UTC would map the years 0 to 99 to 1900 to 1999.
  moment.setUTCFullYear(year, month - 1, day);
  if (moment.getUTCMonth() !== month - 1 || moment.getUTCDate() !== day) return undefined;
  moment.setUTCHours(hour, minute, second, Number((match[7] ?? '').slice(0, 3).padEnd(3, '0')));
  const offset = (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)) * 60_000;
  return new Date(moment.getTime() - (match[8] === '-' ? -offset : offset));
}
