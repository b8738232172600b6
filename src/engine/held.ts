// What a person is told whose change had to wait for somebody else's for too long.
import { Refusal } from '#domain/refusal.ts';

/** Seconds after which trying again makes sense. */
const retryAfter = 5;

export const heldTooLong = (cause: unknown): Refusal =>
  Object.assign(
    new Refusal(
      'remote-service-unavailable',
      'Another process has held the records of the store for 5 seconds. Nothing was changed. Try again in a few seconds.',
      retryAfter,
    ),
    { cause },
  );
