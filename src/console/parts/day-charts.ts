// Daily counts: a chart with one bar per day, and a table for exact numbers and for readers who do not see the chart.
import { html, type Html } from '#http/pages/html.ts';
import { pillars } from './charts.ts';
import { table, type Column } from './table.ts';
import { count } from './values.ts';

interface Day {
  /** `2026-03-01`. */
  day: string;
}

/** A bar per day, today last; the description is below. */
export function renderDayChart<One extends Day>(
  days: readonly One[],
  amount: (day: One) => number,
  words: string,
): Html {
  return html`<figure class="days">
    ${pillars(
      days.map((day) => ({ all: amount(day), bad: 0 })),
      words,
    )}
    <figcaption>${words}. One bar a day (UTC), from ${days[0]?.day ?? ''} to today.</figcaption>
  </figure>`;
}

/** Renders the figures of the charts as a table that the reader can open. */
export const renderDayTable = <One extends Day>(
  caption: string,
  days: readonly One[],
  columns: readonly Column<One>[],
): Html =>
  html`<details class="more">
    <summary>${caption}, in numbers</summary>
    ${table({
      caption,
      columns: [{ heading: 'Day', cell: ({ day }) => day }, ...columns],
      rows: [...days].reverse(),
      empty: '',
    })}
  </details>`;

/** A column with a number per day. */
export const amountColumn = <One>(heading: string, amount: (day: One) => number): Column<One> => ({
  heading,
  number: true,
  cell: (day) => count(amount(day)),
});

/** A sentence such as `3 today, 7 on the busiest day`, for the given last days. */
export function summarizeAmounts(amounts: readonly number[]): string {
  const maxAmount = Math.max(0, ...amounts);
  return `${count(amounts.at(-1) ?? 0)} today, ${count(maxAmount)} on the busiest of ${String(amounts.length)} days`;
}
