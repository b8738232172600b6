// What a person is told whose change found no room on the disk of the database.
import { because, Refusal } from '#domain/refusal.ts';

/** Seconds after which trying again makes sense: an administrator has to make room first. */
const retryAfter = 300;

export const diskFull = (cause: unknown, disk = 'The disk of the store'): Refusal =>
  because(
    cause,
    new Refusal(
      'insufficient-storage',
      `${disk} is full, so nothing was changed. The administrator of the store has to make room; try again later.`,
      retryAfter,
    ),
  );
