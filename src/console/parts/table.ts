// Tables with headings for screen readers; on a narrow screen each row becomes a block.
import { html, nothing, type HtmlContent, type Html } from '#http/pages/html.ts';
import { sortHeading, sortState, type Sortable, type TableSorting } from './sorting.ts';

export interface Column<Row> {
  heading: string;
  cell(row: Row): HtmlContent;
  /** Whether the column contains numbers, which are aligned. */
  number?: boolean;
  /** How to sort by this column; undefined if that is not possible. */
  sort?: Sortable;
}

interface TableDefinition<Row> {
  /** The caption for screen readers; visible if `shown` is set. */
  caption: string;
  shown?: boolean;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** The present order of a list that can be sorted. */
  sorting?: TableSorting;
  /** Shown in place of a table without rows: the first step. */
  empty: HtmlContent;
}

/** The first column is the heading of its row. */
export function table<Row>({ caption, shown = false, columns, rows, sorting, empty }: TableDefinition<Row>): Html {
  if (rows.length === 0) return emptyState(empty);
  const headings = columns.map(
    ({ heading, number, sort }) =>
      html`<th scope="col" ${number === true ? html`class="number"` : nothing} ${sortState(sort, sorting)}>
        ${sortHeading(heading, sort, sorting)}
      </th>`,
  );
  const cells = (row: Row): Html[] =>
    columns.map(({ heading, cell, number }, at) =>
      at === 0
        ? html`<th scope="row">${cell(row)}</th>`
        : html`<td data-heading="${heading}" ${number === true ? html`class="number"` : nothing}>${cell(row)}</td>`,
    );
  return html`<table>
    <caption ${shown ? nothing : html`class="unseen"`}>
      ${caption}
    </caption>
    <thead ${sorting === undefined ? nothing : html`class="sorts"`}>
      <tr>
        ${headings}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr>
            ${cells(row)}
          </tr> `,
      )}
    </tbody>
  </table>`;
}

/** Shown in place of content that does not exist yet: a drawing and the first step. */
export const emptyState = (words: HtmlContent): Html =>
  html`<div class="empty">
    <svg class="shelf" viewBox="0 0 96 56" aria-hidden="true">
      <path d="M4 26h88M4 52h88" />
      <rect x="14" y="8" width="18" height="18" rx="3" />
      <rect x="40" y="14" width="14" height="12" rx="3" />
      <rect x="58" y="34" width="22" height="18" rx="3" />
    </svg>
    <div>${words}</div>
  </div>`;

/** Names with their values. */
export const facts = (pairs: readonly (readonly [name: string, value: HtmlContent] | undefined)[]): Html =>
  html`<dl class="facts">
    ${pairs
      .filter((pair) => pair !== undefined)
      .map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;

/** A link to the next page of a list; empty on the last page. */
export const nextPage = (address: string | null | undefined, words = 'Next page'): Html =>
  address === undefined || address === null
    ? nothing
    : html`<p class="pager"><a href="${address}" rel="next">${words}</a></p>`;

/** The number of entries per page. */
export const pageSize = 50;
