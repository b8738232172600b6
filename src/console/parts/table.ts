// Tables: with headings for whoever listens, and as one block a row where the screen is narrow.
import { html, nothing, type Content, type Html } from '#api/pages/html.ts';
import { sortHeading, sortState, type Sortable, type Sorting } from './sorting.ts';

export interface Column<Row> {
  heading: string;
  cell(row: Row): Content;
  /** Whether it holds numbers, which stand one under another. */
  number?: boolean;
  /** How a list is asked to stand in its order; nothing where it cannot. */
  sort?: Sortable;
}

interface Table<Row> {
  /** What is in it, for whoever listens; shown where `shown` is set. */
  caption: string;
  shown?: boolean;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Of a list that can be sorted: how it is now. */
  sorting?: Sorting;
  /** What is said in place of a table without rows: what to do first. */
  empty: Content;
}

/** The first column names the row. */
export function table<Row>({ caption, shown = false, columns, rows, sorting, empty }: Table<Row>): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
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

/** Names and what they stand for. */
export const facts = (pairs: readonly (readonly [name: string, value: Content] | undefined)[]): Html =>
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

/** The way to the next page of a list; nothing at its end. */
export const nextPage = (address: string | null | undefined, words = 'Next page'): Html =>
  address === undefined || address === null
    ? nothing
    : html`<p class="pager"><a href="${address}" rel="next">${words}</a></p>`;

/** How many entries a page shows. */
export const pageSize = 50;
