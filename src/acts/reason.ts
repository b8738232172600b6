// Reasons that people give for an act.
import { Refusal } from '#domain/refusal.ts';

/** Trims a reason; refuses it unless it is one line. */
export function parseReason(text: string): string {
  const reason = text.trim();
  if (reason !== '' && reason.length <= 1000 && !/[\p{Cc}\u2028\u2029]/u.test(reason)) return reason;
  throw new Refusal('api-error', 'A reason is one line of at most 1000 characters at /reason');
}
