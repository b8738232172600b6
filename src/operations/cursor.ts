// Cursors: where the next page of a list begins, as a text that means nothing to anybody else.
import { Refusal } from '#domain/refusal.ts';

/** The cursor that stands behind the entry with this place in the order of its list. */
export const writeCursor = (place: readonly string[]): string =>
  Buffer.from(JSON.stringify(place)).toString('base64url');

/** The place that a cursor stands for; refuses a text that is none of ours for a list ordered by so many members. */
export function readCursor(cursor: string, members: number): string[] {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const isPlace = Array.isArray(place) && place.length === members && place.every((one) => typeof one === 'string');
    if (isPlace && writeCursor(place) === cursor) return place;
  } catch {
    // Said below, as of any other text that is no cursor.
  }
  throw new Refusal('api-error', 'This is no cursor of this list; begin again without one at /cursor');
}
