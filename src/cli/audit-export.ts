// larder audit export
import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Records } from '#records/index.ts';
import { presentAudit } from './audit-list.ts';
import { command } from './command.ts';
import { progressOf } from './progress.ts';
import { withStore } from './store.ts';

const batch = 2000;

export const auditExport = command({
  name: 'audit export',
  summary: 'Write the audit log to a file, one JSON document a line, oldest first.',
  positionals: [{ name: 'file', summary: 'The file to write, which must not be there yet.' }],
  options: {
    after: { type: 'integer', value: 'SEQ', minimum: 0, maximum: 1e15 - 1, summary: 'Only entries after this one.' },
  },
  examples: ['larder audit export ./audit.jsonl', 'larder audit export /media/usb/audit.jsonl --after 120000'],

  run: (call) =>
    withStore(call, async ({ records }) => {
      const file = resolve(call.positionals.file);
      const progress = progressOf(call);
      const total = (await records.audit.head())?.seq ?? 0;
      let last = call.options.after ?? 0;
      let rows = 0;
      await pipeline(
        Readable.from(
          lines(records, last, (some, seq) => {
            rows += some;
            last = seq;
            progress.at('writing', seq, total);
          }),
        ),
        createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }),
      );
      progress.end();
      return {
        text: `${String(rows)} entries are in ${file}; the last is ${String(last)}.`,
        json: { file, entries: rows, last },
      };
    }),
});

async function* lines(
  records: Records,
  after: number,
  wrote: (rows: number, seq: number) => void,
): AsyncGenerator<string> {
  for (let last = after; ;) {
    const some = await records.audit.list(last, batch);
    if (some.length === 0) return;
    yield some.map((row) => `${JSON.stringify(presentAudit(row))}\n`).join('');
    last = some.at(-1)!.seq;
    wrote(some.length, last);
  }
}
