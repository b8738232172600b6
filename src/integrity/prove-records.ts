// Looks over the database and the audit log while the store serves: after it was not stopped in good order, and every week.
// The blobs have the scrub.
import { once } from 'node:events';

import { after, days, hours, timestamp, type Now } from '#domain/clock.ts';
import type { SealFile } from '#records/audit-seals.ts';
import { verifyAudit } from '#records/audit-verdict.ts';
import type { Records } from '#records/index.ts';
import type { StartWorker } from '#src/embedded.ts';
import type { DatabaseToCheck } from './database-worker.ts';

export interface ProofOfRecords {
  /** What somebody should look at; empty when all is as it was written, as far as that is known. */
  problems(): string[];
  job: { name: string; every: number; inDoubt: 'runs'; run(): Promise<Record<string, unknown>> };
}

export interface ProofOptions {
  /** The database file, and where this process has SQLite from. */
  database: DatabaseToCheck;
  records: Records;
  siteKey: Buffer;
  sealFile: SealFile;
  /** Starts `database-worker.ts`. */
  startWorker: StartWorker;
  now: Now;
  /** Whether the process before this one ended without closing the database. */
  unclean: boolean;
}

const interval = days(7);
/** What the appliance keeps of the last time. */
const kept = 'records-proven';

interface Outcome {
  at: string;
  problems: number;
}

export async function proofOfRecords(options: ProofOptions): Promise<ProofOfRecords> {
  const { database: toCheck, records, siteKey, sealFile, startWorker, now } = options;
  let last = JSON.parse((await records.appliance.find(kept)) ?? 'null') as Outcome | null;
  // What was wrong before may have been mended since, by a restore for one.
  let due = options.unclean || (last?.problems ?? 0) > 0;

  return {
    problems: () =>
      last === null || last.problems === 0
        ? []
        : [
            `When the records were looked over at ${last.at}, ${String(last.problems)} things were wrong; ` +
              "'larder verify' names them, and a backup from before has them as they were.",
          ],
    job: {
      name: 'prove-records',
      inDoubt: 'runs',
      every: hours(1),
      async run() {
        const at = timestamp(now());
        if (!due && last !== null && at < timestamp(after(new Date(last.at), interval))) return {};
        const database = await inWorker(startWorker, toCheck);
        const audit = await verifyAudit(records, { siteKey, file: sealFile });
        const found = { at, problems: database.length + audit.problems.length };
        const details = { problems: found.problems, first: [...database, ...audit.problems].slice(0, 3) };
        const entry = { at, actor: 'larder', action: 'prove_records', object: 'records', details };
        await records.change(entry, (tx) => tx.appliance.set(kept, JSON.stringify(found)));
        last = found;
        due = false;
        return details.problems === 0 ? {} : details;
      },
    },
  };
}

async function inWorker(startWorker: StartWorker, toCheck: DatabaseToCheck): Promise<string[]> {
  const worker = startWorker({
    name: 'database',
    execArgv: [],
    workerData: toCheck,
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  worker.unref();
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`cannot look over the database: the thread ended with ${String(code)}`);
  });
  ended.catch(() => undefined);
  const [problems] = (await Promise.race([once(worker, 'message'), ended])) as [string[]];
  return problems;
}
