// What a person is told whose change found no room on the disk of the database.
import { because, Refusal } from '#domain/refusal.ts';

/** Seconds after which trying again makes sense: an administrator has to make room first. */
const retryAfter = 300;

export const diskFull = (cause: unknown): Refusal =>
  because(
    cause,
    new Refusal(
      'insufficient-storage',
      'The disk of the store is full, so nothing was changed. Its administrator has to make room; try again later.',
      retryAfter,
    ),
  );
