// The order of a list: its default, or by a column. The headings are links that choose the order, and work without scripts.
import { html, nothing, type Html } from '#http/pages/html.ts';
import { writeCursor } from '#operations/cursor.ts';
import { numberIn, placeOf } from '#operations/page.ts';

export interface TableSorting {
  /** The key of a column; `-` before it reverses the order. */
  order: string;
  /** The address of the list in another order. */
  address(order: string): string;
}

/** A column that can be sorted by: its key, and whether its largest values come first by default. */
export interface Sortable {
  key: string;
  largestFirst?: boolean;
}

/** The heading of a column, with a link to sort by it or to reverse the order. */
export function sortHeading(words: string, column: Sortable | undefined, sorting: TableSorting | undefined): Html {
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

/** The `aria-sort` attribute of a column heading. */
export function sortState(column: Sortable | undefined, sorting: TableSorting | undefined): Html {
  if (column === undefined || sorting === undefined) return nothing;
  if (sorting.order === column.key) return html`aria-sort="ascending"`;
  return sorting.order === `-${column.key}` ? html`aria-sort="descending"` : nothing;
}

/** The number of entries before a page of a list that is sorted by a column; the cursor contains it. */
export function countBefore(query: { cursor?: string }): number {
  const [before] = placeOf(query, ['0'] as const);
  return numberIn(before);
}

/** A page of a list that is sorted by a column, and the cursor of the next page; `find` returns a number of entries after an offset. */
export async function sortedPage<Entry>(
  query: { cursor?: string },
  size: number,
  find: (range: { offset: number; limit: number }) => Promise<readonly Entry[]>,
): Promise<{ entries: Entry[]; next: string | null }> {
  const offset = countBefore(query);
  const rows = await find({ offset, limit: size + 1 });
  return {
    entries: rows.slice(0, size),
    next: rows.length > size ? writeCursor([String(offset + size)]) : null,
  };
}

/** A hint below a list that is too long to be sorted as a whole. */
export const sortLimitHint = (isCut: boolean, words: string): Html =>
  isCut
    ? html`<p class="hint">Only ${words} are sorted. Search for a part of a name to sort other entries.</p>`
    : nothing;
