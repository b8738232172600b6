// Writes and reads cursors: the start of the next page of a list, as an opaque text.
import { Refusal } from '#domain/refusal.ts';

/** The cursor after the entry with these sort values. */
export const writeCursor = (place: readonly string[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/** The sort values in a cursor; refuses a text that is no cursor for a list sorted by this number of members. */
export function readCursor(cursor: string, members: number): string[] {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const isPlace =
      Array.isArray(place) && place.length === members && place.every((value) => typeof value === 'string');
    if (isPlace && writeCursor(place) === cursor) return place;
  } catch {
    // Refused below, like any other invalid text.
  }
  throw new Refusal('api-error', 'This cursor does not belong to this list. Start again without a cursor at /cursor');
}
