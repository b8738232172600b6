// Formats a report of a transfer as text for a terminal and as one page, with the same content.
import type { PlanLine } from '#acts/transfers/plan-types.ts';
import type { TransferPackage } from '#contract/wire.ts';
import type { TransferReport } from '#http/transfer-desk.ts';
import { html, markup, type Html } from '#http/pages/html.ts';
import { styleSheet } from '#http/pages/style-sheet.ts';
import { table, visible, wrap } from '../frame/terminal.ts';

export type { TransferReport as Report };

/** Maximum width of the text in columns; terminals are expected to have as many. */
const maxWidth = 100;

const words =
  'WORD is the evidence for the change. upstream: an assertion that a trusted root vouches for; source: the ' +
  'statement of the source alone; nobody: an unsigned folder.';
const headings = ['PACKAGE', 'WHAT', 'FROM', 'TO', 'WORD'] as const;
const nothing = 'It changes nothing here.';

const cellsOf = ({ package: of, what: subject, from, to, word }: PlanLine): string[] => [
  of,
  subject,
  from ?? '-',
  to ?? '-',
  word,
];

/** Untrusted text on one line, without control characters. */
const oneLine = (text: string): string => visible(text).replaceAll('\n', '\\u000a');

/** Formats a report for a terminal; cuts long names, which are complete in the page and in the JSON. */
export function renderReportText({ title, sentences, changes, lists }: TransferReport): string {
  const filledLists = lists.filter(({ items }) => items.length > 0);
  return [
    ...[title, ...sentences].flatMap((sentence) => indentText(sentence, 0)),
    ...(changes === undefined ? [] : changes.length === 0 ? [nothing] : tableOf(changes)),
    ...filledLists.flatMap(({ heading, items }) => [heading, ...items.flatMap((item) => indentText(item, 2))]),
    ...(changes === undefined ? [] : wrap(words, maxWidth)),
  ].join('\n');
}

function tableOf(changes: readonly PlanLine[]): string[] {
  const [heading = '', ...rows] = formatFittedTable(headings, changes.map(cellsOf)).split('\n');
  return [
    heading,
    ...rows.flatMap((row, at) => {
      const notes = changes[at]!.notes.map(oneLine).join('; ');
      if (notes === '') return [row];
      // Notes are never cut: they matter for the decision to accept.
      return row.length + 2 + notes.length <= maxWidth ? [`${row}  ${notes}`] : [row, ...indentText(notes, 4)];
    }),
  ];
}

/** Wraps text: the first line is indented by `indent` spaces, the others by two more; splits a word that is longer than a line. */
function indentText(text: string, indent: number): string[] {
  const width = maxWidth - indent - 2;
  const pieces = wrap(oneLine(text), width).flatMap((line) => {
    const parts = [];
    for (let rest = line; rest !== ''; rest = rest.slice(parts.at(-1)!.length)) parts.push(beginning(rest, width));
    return parts;
  });
  return pieces.map((line, at) => `${' '.repeat(at === 0 ? indent : indent + 2)}${line}`);
}

/** A table of the packages of a transfer. */
export const formatPackages = (packages: readonly TransferPackage[]): string =>
  formatFittedTable(
    ['PACKAGE', 'REVISIONS', 'CHANNELS'],
    packages.map(({ namespace, name, revisions, channels }) => [
      `${namespace}/${name}`,
      revisions.map(({ revision }) => revision).join(', '),
      [...new Set(channels.map(({ channel }) => channel))].join(', '),
    ]),
  );

/** A table that fits the terminal: shrinks the widest columns, and cuts their cells. */
export function formatFittedTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(oneLine));
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const room = maxWidth - 2 * (heading.length - 1);
  while (widths.reduce((sum, width) => sum + width, 0) > room) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = Math.min(widths[widest]!, room) - 1;
  }
  return table(
    heading,
    cells.map((row) => row.map((cell, column) => cut(cell, widths[column]!))),
  );
}

const cut = (text: string, width: number): string => (text.length <= width ? text : `${beginning(text, width - 1)}…`);

/** The start of a text; never ends with half of a surrogate pair. */
function beginning(text: string, width: number): string {
  const start = text.slice(0, width);
  return /[\ud800-\udbff]$/.test(start) && start.length < text.length ? start.slice(0, -1) : start;
}

/** Formats a report as one page without scripts, links or external resources. */
export function renderReportPage({ title, sentences, changes, lists }: TransferReport): string {
  const filledLists = lists.filter(({ items }) => items.length > 0);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${oneLine(title)}</title>
        <style>
          ${markup(styleSheet('src/cli/transfers/report.css'))}
        </style>
      </head>
      <body>
        <h1>${oneLine(title)}</h1>
        ${sentences.map((sentence) => html`<p>${oneLine(sentence)}</p>`)} ${changes && changesOf(changes)}
        ${filledLists.map(
          ({ heading, items }) =>
            html`<h2>${oneLine(heading)}</h2>
              <ul>
                ${items.map((item) => html`<li>${oneLine(item)}</li> `)}
              </ul>`,
        )}
        ${changes && html`<p>${words}</p>`}
      </body>
    </html>`;
  return `${page.toString()}\n`;
}

function changesOf(changes: readonly PlanLine[]): Html {
  if (changes.length === 0) return html`<p>${nothing}</p>`;
  const row = (line: PlanLine): Html => {
    const cells = [...cellsOf(line), line.notes.join('; ')];
    return html`<tr>
      ${cells.map((cell) => html`<td>${oneLine(cell)}</td>`)}
    </tr> `;
  };
  return html`<table>
    <thead>
      <tr>
        ${[...headings, 'NOTES'].map((heading) => html`<th scope="col">${heading}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${changes.map(row)}
    </tbody>
  </table>`;
}
