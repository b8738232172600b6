// Pages of long lists: page size and start.
import { Refusal } from '#domain/refusal.ts';
import { readCursor, writeCursor } from './cursor.ts';

interface PageQuery {
  'page-size'?: string;
  cursor?: string;
}

/** The page size that the query requests: 100 by default, at most 500. */
export function pageSize(query: PageQuery): number {
  const size = Number(query['page-size'] ?? '100');
  if (size >= 1 && size <= 500) return size;
  throw new Refusal('api-error', 'A page holds 1 to 500 entries at /page-size');
}

/** The sort values that a page starts after; `first` for the first page. */
export const placeOf = <Place extends readonly string[]>(query: PageQuery, first: Place): Place =>
  query.cursor === undefined ? first : (readCursor(query.cursor, first.length) as unknown as Place);

/** The number that a page of a descending list starts before. */
export function numberBefore(query: PageQuery): number {
  const [before] = placeOf(query, [String(Number.MAX_SAFE_INTEGER)] as const);
  return numberIn(before);
}

/** Parses a number in a cursor. */
export function numberIn(text: string): number {
  if (/^(?:0|[1-9]\d{0,15})$/.test(text)) return Number(text);
  throw new Refusal('api-error', 'This cursor does not belong to this list. Start again without a cursor at /cursor');
}

/** One page of the found entries. The caller reads one entry more than `size`; if it exists, there is a next page. */
export function pageOf<Entry>(
  rows: readonly Entry[],
  size: number,
  place: (entry: Entry) => readonly string[],
): { entries: Entry[]; next: string | null } {
  const entries = rows.slice(0, size);
  const last = entries.at(-1);
  return { entries, next: rows.length > size && last !== undefined ? writeCursor(place(last)) : null };
}
