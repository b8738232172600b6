// larder audit report
import { formatCount } from '#domain/quantities.ts';
import { resolve } from 'node:path';

import { exportAudit } from '#acts/audit/exports.ts';
import { timestamp } from '#domain/clock.ts';
import { command, UsageError } from '../frame/command.ts';
import { parseTimeOption } from '../frame/time-option.ts';
import { writeNew } from '../frame/outside-files.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { table } from '../frame/terminal.ts';
import { formatBytes } from '#domain/byte-size.ts';
import { csvLine, csvHeading, movedHeading, movedLines, notesOf } from './report-csv.ts';
import { renderParts, renderRow } from './report-page.ts';
import { readRows, summarizeAudit, type AuditSummary } from './report-summary.ts';

export const auditReport = command({
  name: 'audit report',
  summary:
    'Report on a period: who changed what, which files were exported, which transfers were accepted, and whether ' +
    'the audit log is intact.',
  description:
    'Writes a page to print (--html), lines for a spreadsheet (--csv), or a summary on the terminal. The page ' +
    'and the lines hold every entry of the period; --moved writes only exported files and accepted transfers. ' +
    'The files are themselves recorded as exports.',
  options: {
    from: {
      type: 'string',
      value: 'DATE',
      required: true,
      summary: 'The first day, such as 2026-01-01, or a time in UTC.',
    },
    to: { type: 'string', value: 'DATE', summary: 'The day or time before which the period ends. Default: now.' },
    html: { type: 'string', value: 'FILE', summary: 'Write a self-contained HTML page.' },
    csv: { type: 'string', value: 'FILE', summary: 'Write one line for each entry.' },
    moved: { type: 'string', value: 'FILE', summary: 'Write one line for each exported file and accepted transfer.' },
  },
  examples: [
    'larder audit report --from 2026-01-01',
    'larder audit report --from 2026-01-01 --to 2026-02-01 --html ./january.html',
    'larder audit report --from 2026-01-01 --csv /media/usb/audit.csv --moved /media/usb/moved.csv',
  ],

  run({ options, data, world }) {
    const from = timestamp(parseTimeOption('from', options.from));
    const until = options.to === undefined ? undefined : timestamp(parseTimeOption('to', options.to));
    if (until !== undefined && until <= from) throw new UsageError('--to is a time after --from');
    const work = async (store: OpenStore) => {
      const summary = await summarizeAudit(store, from, until ?? timestamp(store.now()));
      const files: string[] = [];
      if (options.html !== undefined) files.push(await writePage(resolve(options.html), summary, store));
      if (options.csv !== undefined) files.push(await writeLines(resolve(options.csv), summary, store));
      if (options.moved !== undefined) files.push(await writeMoved(resolve(options.moved), summary, store));
      return {
        text: [formatSummary(summary), ...files.map((file) => `Written to ${file}.`)].join('\n\n'),
        json: { ...summary, files },
        exitCode: summary.problems.length === 0 ? 0 : 1,
      };
    };
    return withStore({ data, world }, work, { writesOutside: true });
  },
});

async function writePage(file: string, summary: AuditSummary, { records, acts, person, asCaller }: OpenStore) {
  const written = await writeNew(file, asCaller, async (append) => {
    const { opening, closing } = renderParts(summary);
    await append(opening);
    for await (const row of readRows(records, summary.from, summary.to)) await append(renderRow(row));
    await append(closing);
  });
  await acts.do(exportAudit, person, { ...reach(summary), ...written });
  return file;
}

async function writeLines(file: string, summary: AuditSummary, { records, acts, person, asCaller }: OpenStore) {
  const written = await writeNew(file, asCaller, async (append) => {
    await append(csvHeading);
    for await (const row of readRows(records, summary.from, summary.to)) await append(csvLine(row));
  });
  await acts.do(exportAudit, person, { ...reach(summary), ...written });
  return file;
}

async function writeMoved(file: string, summary: AuditSummary, { acts, person, asCaller }: OpenStore) {
  const written = await writeNew(file, asCaller, async (append) => {
    await append(movedHeading);
    for (const line of movedLines(summary)) await append(line);
  });
  await acts.do(exportAudit, person, { ...reach(summary), ...written });
  return file;
}

const reach = ({ head, entries }: AuditSummary) => ({ first: 1, last: head?.seq ?? 0, entries });

function formatSummary({ from, to, entries, doings, exports, arrivals, head, problems }: AuditSummary): string {
  const whole =
    problems.length === 0
      ? `The audit log is intact${head === null ? '' : `; its head is ${String(head.seq)}:${head.hash}`}.`
      : `The audit log was tampered with or damaged:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  const did = table(
    ['WHO', 'ACTION', 'OUTCOME', 'TIMES'],
    doings.map(({ actor, action, outcome, count }) => [actor, action, outcome, String(count)]),
  );
  const left = table(
    ['TIME', 'WHO', 'WHAT LEFT', 'WHICH', 'SIZE', 'SHA-256'],
    exports.map((exported) => [
      exported.at,
      exported.actor,
      exported.what,
      exported.name,
      formatBytes(exported.bytes),
      exported.sha256,
    ]),
  );
  const came = table(
    ['TIME', 'ACCEPTED BY', 'CAME FROM', 'APPROVED BY', 'NOTES'],
    arrivals.map((arrival) => [
      ...[
        arrival.at,
        arrival.actor,
        `${arrival.source} ${String(arrival.sequence)}`,
        arrival.approvedBy.join(', ') || '-',
        notesOf(arrival),
      ],
    ]),
  );
  return [
    `From ${from} to ${to}: ${formatCount(entries, 'entry', 'entries')}.`,
    whole,
    ...(doings.length > 0 ? [did] : []),
    exports.length > 0 ? left : 'No file was exported.',
    arrivals.length > 0 ? came : 'No transfer was accepted.',
  ].join('\n\n');
}
