// Times in assertions: RFC 3339, read strictly and written in UTC with whole seconds.

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,32}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

/** The moment a text names, to the millisecond; undefined when it is no RFC 3339 date-time of the calendar. */
export function readTime(text: string): Date | undefined {
  const match = rfc3339.exec(text);
  if (!match) return undefined;
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

/** As `snap export-key` writes a time: `2006-01-02T15:04:05Z`. */
export function writeTime(moment: Date): string {
  const year = moment.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new Error('cannot write a time outside of the years 0 to 9999');
  return moment.toISOString().replace(/\.\d{3}Z$/, 'Z');
}
