// In which order a list stands: its own, or that of a column, asked for by the links in the headings, which work without a script.
import { html, nothing, type Html } from '#api/pages/html.ts';
import { writeCursor } from '#operations/cursor.ts';
import { numberIn, placeOf } from '#operations/page.ts';

export interface Sorting {
  /** The key of a column; with `-` before it the other way round. */
  order: string;
  /** The address of the list in another order. */
  address(order: string): string;
}

/** What a column says that can be sorted by: its key, and whether its largest come first when nobody says otherwise. */
export interface Sortable {
  key: string;
  largestFirst?: boolean;
}

/** The heading of a column: its words, and in a list that can be sorted by it the way to do that, or to turn it round. */
export function sortHeading(words: string, column: Sortable | undefined, sorting: Sorting | undefined): Html {
  if (column === undefined || sorting === undefined) return html`${words}`;
  const { key, largestFirst = false } = column;
  const [up, down] = [key, `-${key}`];
  const isSorted = sorting.order === up || sorting.order === down;
  const next = isSorted ? (sorting.order === up ? down : up) : largestFirst ? down : up;
  const sign = !isSorted ? '↕' : sorting.order === up ? '↑' : '↓';
  return html`<a class="sort" id="sort-${key}" href="${sorting.address(next)}" hx-swap="innerHTML show:none"
    >${words}<span class="${isSorted ? nothing : 'hint'}" aria-hidden="true"> ${sign}</span></a
  >`;
}

/** What a heading says of its column to whoever listens. */
export function sortState(column: Sortable | undefined, sorting: Sorting | undefined): Html {
  if (column === undefined || sorting === undefined) return nothing;
  if (sorting.order === column.key) return html`aria-sort="ascending"`;
  return sorting.order === `-${column.key}` ? html`aria-sort="descending"` : nothing;
}

/** How many entries stand before a page of a list that is sorted by a column: its cursor counts them. */
export function countBefore(query: { cursor?: string }): number {
  const [before] = placeOf(query, ['0'] as const);
  return numberIn(before);
}

/** A page of a list that is sorted by a column, and the cursor of the next one; `find` gives so many entries behind so many. */
export async function sortedPage<Entry>(
  query: { cursor?: string },
  size: number,
  find: (range: { offset: number; limit: number }) => Promise<readonly Entry[]>,
): Promise<{ entries: Entry[]; next: string | null }> {
  const offset = countBefore(query);
  const found = await find({ offset, limit: size + 1 });
  return {
    entries: found.slice(0, size),
    next: found.length > size ? writeCursor([String(offset + size)]) : null,
  };
}

/** What is said below a list that is too long to be sorted as a whole. */
export const sortedAmong = (isCut: boolean, words: string): Html =>
  isCut ? html`<p class="hint">Sorted are ${words}; look for a piece of a name to sort among others.</p>` : nothing;
