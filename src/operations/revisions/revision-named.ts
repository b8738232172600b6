// The revision that a path names.
import { Refusal } from '#domain/refusal.ts';

/** Its number; what is no number is the number of none. */
export function revisionNamed(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Refusal(
    'resource-not-found',
    `There is no revision '${text.slice(0, 64)}'; a revision is a number from 1 up.`,
  );
}
