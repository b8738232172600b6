// larder audit verify
import { resolve } from 'node:path';
import { toActName } from '#acts/audit-words.ts';
import { upgrade } from '#acts/store/appliance.ts';
import { NotOurs, readManifest } from '#backup/manifest.ts';
import { NotWhole, readTar, type TarReader } from '#backup/tar.ts';
import type { AuditHead } from '#records/audit/audit-seals.ts';
import { verifyAudit, type AuditVerdict, type AuditRestart } from '#records/audit/audit-verdict.ts';
import { formatCount } from '#domain/quantities.ts';
import { command, Failure, UsageError } from '../frame/command.ts';
import { createProgress } from '../frame/progress.ts';
import { withStore } from '../frame/store.ts';

export const auditVerify = command({
  name: 'audit verify',
  summary: 'Prove that the audit log is intact.',
  description:
    'Follows the chain of hashes from the first entry to the last and the chain of seals under the site key, and ' +
    'compares both with audit.seal, the newest seal beside the database. Without the site key the log cannot be ' +
    'cut or rewritten unnoticed. Root of the host could restore an earlier state of the whole data directory. ' +
    "Only a head that is kept elsewhere reveals that: 'larder status' prints the head, and every backup holds it.",
  options: {
    head: { type: 'string', value: 'SEQ:HASH', summary: 'A head that was copied off the host earlier.' },
    since: { type: 'string', value: 'BACKUP', summary: 'A backup of this store. The log must still contain its head.' },
  },
  examples: [
    'larder audit verify',
    'larder audit verify --head 1204:9f2c…',
    'larder audit verify --since /media/usb/larder-monday.tar',
  ],

  async run(call) {
    const { head, since } = call.options;
    const expected = head === undefined ? [] : [parseHead(head)];
    // Opened with the rights of the caller, who may read files that the owner of the data directory may not.
    const backup = since === undefined ? undefined : await opened(resolve(since));
    try {
      return await withStore(call, async ({ records, siteKey, sealing }) => {
        if (backup !== undefined) expected.push(...(await headIn(backup, siteKey)));
        const total = (await records.audit.end())?.seq ?? 0;
        const progress = createProgress(call);
        const started = performance.now();
        const verdict = await verifyAudit(records, {
          siteKey,
          file: sealing.file,
          expected,
          progress: (rows) => {
            progress.at('audit log', rows, total);
          },
        });
        progress.end();
        const { rows, seals, problems, restarts } = verdict;
        const good = problems.length === 0;
        return {
          text: textOf(verdict),
          json: {
            good,
            rows,
            seals,
            head: verdict.head ?? null,
            'begun-anew': restarts.map(({ left, ...restart }) => ({ ...restart, 'left-behind': left ?? null })),
            problems,
            'rows-per-second': Math.round(rows / ((performance.now() - started) / 1000)),
          },
          exitCode: good ? 0 : 1,
        };
      });
    } finally {
      await backup?.tar.close();
    }
  },
});

function textOf({ rows, seals, head, problems, restarts }: AuditVerdict): string {
  const notes = restarts.map((restart) => `\n${describeRestart(restart)}`).join('');
  if (problems.length > 0) {
    const lines = problems.map((problem) => `  ${problem}`).join('\n');
    return `The audit log was tampered with or damaged:\n${lines}${notes}\nThe recovery guide at /docs/recovery says what to do.`;
  }
  return (
    `The audit log is intact: ${formatCount(rows, 'entry', 'entries')}, ${formatCount(seals, 'sealed head')}.` +
    (head ? `\nIts head is ${String(head.seq)}:${head.hash}` : '') +
    notes
  );
}

/** Describes a row after a restore or an upgrade, where the log continues from an earlier state. The reader judges if that was intended. */
function describeRestart({ seq, at, by: word, left }: AuditRestart): string {
  const action = toActName(word);
  const row = `Row ${String(seq)} of ${at} is '${action}'`;
  if (left !== undefined) {
    return `${row}: the log continues from an earlier state there. The log before it reached at least ${String(left.seq)}:${left.hash}`;
  }
  return action === upgrade.name
    ? `${row}: the release installed then put one seal over all earlier entries.`
    : `${row}: the log continues from an earlier state there. It is not known how far the log before it reached.`;
}

interface Backup {
  file: string;
  tar: TarReader;
}

async function opened(file: string): Promise<Backup> {
  try {
    return { file, tar: await readTar(file) };
  } catch (error) {
    throw toArchiveFailure(file, error);
  }
}

/** The head of the audit log in a backup's list; empty if the log was empty. */
async function headIn({ file, tar }: Backup, siteKey: Buffer): Promise<AuditHead[]> {
  try {
    const { auditHead } = await readManifest(file, tar, siteKey);
    return auditHead === null ? [] : [auditHead];
  } catch (error) {
    throw toArchiveFailure(file, error);
  }
}

function toArchiveFailure(file: string, error: unknown): unknown {
  if (error instanceof NotWhole || error instanceof NotOurs) return new Failure(error.message, { cause: error });
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new Failure(`there is no backup ${file}`, { cause: error });
  if (code === 'EACCES') return new Failure(`this user may not read ${file}`, { cause: error });
  return error;
}

function parseHead(text: string): AuditHead {
  const [, seq, hash] = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new UsageError(`--head is SEQ:HASH as 'larder status' prints it, not '${text}'`);
  return { seq: Number(seq), hash };
}
