// Moments as texts: RFC 3339, read strictly, by one reader for everybody.

const shape =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,32}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/**
 * The moment that a text names, to the millisecond; undefined when it is no RFC 3339 date-time with a zone, on a day that
 * the calendar has. `digits` is how many a fraction of a second may have, at most 32.
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
  // Not Date.UTC, which takes the years 0 to 99 for those of the twentieth century.
  moment.setUTCFullYear(year, month - 1, day);
  if (moment.getUTCMonth() !== month - 1 || moment.getUTCDate() !== day) return undefined;
  moment.setUTCHours(hour, minute, second, Number((match[7] ?? '').slice(0, 3).padEnd(3, '0')));
  const offset = (Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)) * 60_000;
  return new Date(moment.getTime() - (match[8] === '-' ? -offset : offset));
}
