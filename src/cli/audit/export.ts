// larder audit export
import { resolve } from 'node:path';
import { exportAudit } from '#acts/audit/exports.ts';
import { auditLines } from '#operations/audit/audit-export.ts';
import { formatCount } from '#domain/quantities.ts';
import { command, type CommandResult } from '../frame/command.ts';
import { writeNew } from '../frame/outside-files.ts';
import { createProgress, type ProgressReporter } from '../frame/progress.ts';
import { withStore, type OpenStore } from '../frame/store.ts';

export const auditExport = command({
  name: 'audit export',
  summary: 'Write the audit log to a file, one JSON document a line, oldest first.',
  positionals: [{ name: 'file', summary: 'The file to write, which must not be there yet.' }],
  options: {
    after: { type: 'integer', value: 'SEQ', minimum: 0, maximum: 1e15 - 1, summary: 'Only entries after this one.' },
  },
  examples: ['larder audit export ./audit.jsonl', 'larder audit export /media/usb/audit.jsonl --after 120000'],

  run(call) {
    const [file, after] = [resolve(call.positionals.file), call.options.after ?? 0];
    return withStore(call, (store) => exportTo(file, after, createProgress(call), store), { writesOutside: true });
  },
});

async function exportTo(
  file: string,
  after: number,
  progress: ProgressReporter,
  { records, acts, person, asCaller }: OpenStore,
): Promise<CommandResult> {
  const total = (await records.audit.head())?.seq ?? 0;
  let last = after;
  let rows = 0;
  const written = await writeNew(file, asCaller, async (append) => {
    for await (const { text, count, seq } of auditLines(records.audit, { after, last: total })) {
      await append(text);
      rows += count;
      last = seq;
      progress.at('writing', seq, total);
    }
  }).finally(progress.end);
  await acts.do(exportAudit, person, { first: after + 1, last, entries: rows, ...written });
  return {
    text: `${formatCount(rows, 'entry is', 'entries are')} in ${file}; the last is ${String(last)}.`,
    json: { file, entries: rows, last, ...written },
  };
}
