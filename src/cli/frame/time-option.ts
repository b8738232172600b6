// Parses dates and times on a command line.
import { readDateTime } from '#domain/date-time.ts';
import { UsageError } from './command.ts';

/** Parses a date, which means midnight UTC, or a time in UTC. */
export function parseTimeOption(option: string, text: string): Date {
  const moment = readDateTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  if (moment !== undefined) return moment;
  throw new UsageError(
    `--${option} is a date such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z, not '${text}'`,
  );
}
