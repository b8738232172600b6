// The audit log of a time as one page, which needs nothing else and prints well.
import { escape } from '#api/documents/html.ts';
import type { AuditRow } from '#records/audit.ts';
import { visible } from '../frame/terminal.ts';
import { bytes } from '#domain/byte-size.ts';
import { notesOf } from './report-csv.ts';
import type { Summary } from './report-summary.ts';

const style = `
:root { color-scheme: light dark }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0 2rem }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid #8886 }
td { overflow-wrap: anywhere }
td.number { text-align: right; font-variant-numeric: tabular-nums }
code { font-size: 0.85em }
@media print { body { margin: 0; font-size: 10px } thead { display: table-header-group } tr { break-inside: avoid } }
`;

/** The page up to its last table, whose rows follow. */
export function opening({ from, to, entries, doings, exports, arrivals, head, problems }: Summary): string {
  const whole =
    problems.length === 0
      ? `<p>The audit log is whole${head === null ? '' : `; its head is <code>${String(head.seq)}:${head.hash}</code>`}.</p>`
      : `<p><strong>The audit log was tampered with or damaged:</strong></p><ul>${problems.map((problem) => `<li>${text(problem)}</li>`).join('')}</ul>`;
  const did = doings.map(({ actor, action, outcome, count }) => cells([actor, action, outcome], [count]));
  const left = exports.map((one) =>
    cells([one.at, one.actor, one.what, one.name, bytes(one.bytes), one.sha256, one.media ?? '', one.label ?? ''], []),
  );
  const came = arrivals.map((one) => {
    const { at, actor, source, sequence, transfer, label, approvedBy, media } = one;
    const which = `${source} ${String(sequence)}`;
    return cells([at, actor, which, transfer, approvedBy.join(', '), media.join(', '), label ?? '', notesOf(one)], []);
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Audit report, ${text(from)} to ${text(to)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Audit report</h1>
<p>From ${text(from)} to ${text(to)}: ${String(entries)} entries.</p>
${whole}
<h2>Who did what</h2>
${begun(['Who', 'Action', 'Outcome', 'Times'])}${did.join('')}${ended}
<h2>What left the host</h2>
${exports.length === 0 ? '<p>Nothing.</p>' : `${begun(['Time', 'Who', 'What', 'Which', 'Size', 'SHA-256', 'Medium', 'Label'])}${left.join('')}${ended}`}
<h2>What came in</h2>
${arrivals.length === 0 ? '<p>Nothing.</p>' : `${begun(['Time', 'Who let it in', 'From', 'SHA-256', 'Approved by', 'Media', 'Label', 'Notes'])}${came.join('')}${ended}`}
<h2>All entries</h2>
${begun(['Number', 'Time', 'Who', 'Action', 'Object', 'Outcome', 'Details'])}`;
}

export const rowOf = ({ seq, at, actor, action, object, outcome, details }: AuditRow): string =>
  cells([String(seq), at, actor, action, object, outcome ?? 'done', details === '{}' ? '' : details], []);

const begun = (headings: readonly string[]): string =>
  `<table><thead><tr>${headings.map((heading) => `<th scope="col">${heading}</th>`).join('')}</tr></thead><tbody>\n`;

const ended = '</tbody></table>\n';

export const closing = `${ended}</main>\n</body>\n</html>\n`;

const text = (from: string): string => escape(visible(from));

const cells = (texts: readonly string[], numbers: readonly number[]): string =>
  `<tr>${texts.map((one) => `<td>${text(one)}</td>`).join('')}${numbers.map((one) => `<td class="number">${String(one)}</td>`).join('')}</tr>\n`;
