// larder audit verify
import { verifyAudit } from '#records/audit.ts';
import { command, UsageError } from './command.ts';
import { progressOf } from './progress.ts';
import { withStore } from './store.ts';

export const auditVerify = command({
  name: 'audit verify',
  summary: 'Prove that the audit log is whole and as it was written.',
  description:
    'Follows the chain of hashes from the first entry to the last, and holds it against the heads that the store has ' +
    'sealed. Whoever has the host could roll the whole store back, seals included; a head that was copied off the host ' +
    "('larder status' prints it) shows that too.",
  options: {
    head: { type: 'string', value: 'SEQ:HASH', summary: 'A head that was copied off the host earlier.' },
  },
  examples: ['larder audit verify', 'larder audit verify --head 1204:9f2c…'],

  run: (call) =>
    withStore(call, async ({ records, siteKey }) => {
      const expected = call.options.head === undefined ? undefined : headOf(call.options.head);
      const total = (await records.audit.end())?.seq ?? 0;
      const progress = progressOf(call);
      const started = performance.now();
      const verdict = await verifyAudit(records.audit, {
        siteKey,
        expected,
        progress: (rows) => {
          progress.at('audit log', rows, total);
        },
      });
      progress.end();
      const { rows, seals, head, problems } = verdict;
      const good = problems.length === 0;
      return {
        text: good
          ? `The audit log is whole: ${String(rows)} entries, ${String(seals)} sealed heads.` +
            (head ? `\nIts head is ${String(head.seq)}:${head.hash}` : '')
          : `The audit log was tampered with or damaged:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
        json: {
          good,
          rows,
          seals,
          head: head ?? null,
          problems,
          'rows-per-second': Math.round(rows / ((performance.now() - started) / 1000)),
        },
        exitCode: good ? 0 : 1,
      };
    }),
});

function headOf(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new UsageError(`--head is SEQ:HASH as 'larder status' prints it, not '${text}'`);
  return { seq: Number(seq), hash };
}
