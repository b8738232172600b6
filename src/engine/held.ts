// What a person is told whose change had to wait for somebody else's for too long.
import { away, type Refusal } from '#domain/refusal.ts';

export const heldTooLong = (cause: unknown): Refusal =>
  away(cause, 'Another process has held the records of the store for 5 seconds. Nothing was changed.');
