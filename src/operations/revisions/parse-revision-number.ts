// Reads the revision number in a path.
import { Refusal } from '#domain/refusal.ts';

/** Parses a revision number; an invalid number is an unknown revision. */
export function parseRevisionNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Refusal(
    'resource-not-found',
    `There is no revision '${text.slice(0, 64)}'. A revision is a number from 1 up.`,
  );
}
