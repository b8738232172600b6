// Formats the audit log of a period as one self-contained page that prints well.
import { toActName } from '#acts/audit-words.ts';
import { html, markup, type HtmlContent, type Html } from '#http/pages/html.ts';
import { embeddedText } from '#platform/embedded.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { visible } from '../frame/terminal.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { formatCount } from '#domain/quantities.ts';
import { notesOf } from './report-csv.ts';
import type { AuditSummary } from './report-summary.ts';

/** The page before and after the rows of its last table; those may be too many for memory. */
export function renderParts(summary: AuditSummary): { opening: string; closing: string } {
  // Render with a marker, then split there. Stored text cannot contain the marker, because its `<` is escaped.
  const gap = html`<!-- rows -->`;
  const [opening = '', closing = ''] = pageOf(summary, gap).toString().split(gap.toString());
  return { opening, closing: `${closing}\n` };
}

export const renderRow = ({ seq, at, actor, action, object, outcome, details }: AuditRow): string =>
  row([seq, at, actor, toActName(action), object, outcome ?? 'done', details === '{}' ? '' : details]).toString();

function pageOf({ from, to, entries, doings, exports, arrivals, head, problems }: AuditSummary, rows: Html): Html {
  const left = exports.map(({ at, actor, what: kind, name, bytes: size, sha256, media, label }) =>
    row([at, actor, kind, name, formatBytes(size), sha256, media, label]),
  );
  const came = arrivals.map((arrival) => {
    const { at, actor, source, sequence, transfer, label, approvedBy, media } = arrival;
    const of = [`${source} ${sequence}`, transfer, approvedBy.join(', '), media.join(', '), label, notesOf(arrival)];
    return row([at, actor, ...of]);
  });
  const body = html`<p>From ${visible(from)} to ${visible(to)}: ${formatCount(entries, 'entry', 'entries')}.</p>
    ${stateOf(head, problems)}
    <h2>Who did what</h2>
    ${table(['Who', 'Action', 'Outcome', 'Times'], doings.map(doingOf))}
    <h2>Exported files</h2>
    ${orNothing(exports, table(['Time', 'Who', 'What', 'Which', 'Size', 'SHA-256', 'Medium', 'Label'], left))}
    <h2>Accepted transfers</h2>
    ${orNothing(arrivals, table(['Time', 'Accepted by', 'From', 'SHA-256', 'Approved by', 'Media', 'Label', 'Notes'], came))}
    <h2>All entries</h2>
    ${table(['Number', 'Time', 'Who', 'Action', 'Object', 'Outcome', 'Details'], rows)}`;
  return reportPage('Audit report', body, `Audit report, ${visible(from)} to ${visible(to)}`);
}

/** A self-contained page that prints well; `title` is for the window. */
export const reportPage = (heading: string, body: Html, title = heading): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>${title}</title>
        <style>
          ${markup(embeddedText('src/cli/audit/report.css'))}
        </style>
      </head>
      <body>
        <main>
          <h1>${heading}</h1>
          ${body}
        </main>
      </body>
    </html>`;

function stateOf(head: AuditSummary['head'], problems: readonly string[]): Html {
  if (problems.length > 0) {
    return html`<p><strong>The audit log was tampered with or damaged:</strong></p>
      <ul>
        ${problems.map((problem) => html`<li>${visible(problem)}</li>`)}
      </ul>`;
  }
  return html`<p>The audit log is intact${head && html`; its head is <code>${head.seq}:${head.hash}</code>`}.</p>`;
}

const doingOf = ({ actor, action, outcome, count }: AuditSummary['doings'][number]): Html =>
  html`<tr>
    ${cells([actor, action, outcome])}
    <td class="number">${count}</td>
  </tr> `;

const orNothing = (some: readonly unknown[], content: Html): Html =>
  some.length === 0 ? html`<p>Nothing.</p>` : content;

export const table = (headings: readonly string[], rows: HtmlContent): Html =>
  html`<table>
    <thead>
      <tr>
        ${headings.map((heading) => html`<th scope="col">${heading}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;

export const row = (texts: readonly (string | number | null)[]): Html =>
  html`<tr>
    ${cells(texts)}
  </tr> `;

const cells = (texts: readonly (string | number | null)[]): Html[] =>
  texts.map((text) => html`<td>${visible(String(text ?? ''))}</td>`);
