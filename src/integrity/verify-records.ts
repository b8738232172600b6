// Checks the database and the audit log while the store serves: soon after each start, and every day. The scrub checks the blobs.
import { itself, type Acts } from '#acts/act.ts';
import {
  recordRecordsCheck,
  recordsCheckSetting,
  type RecordsCheckResult as ProvenRecords,
} from '#acts/store/integrity.ts';
import { after, days, hours, timestamp, type Now } from '#domain/clock.ts';
import type { SealFile } from '#records/audit/audit-seals.ts';
import { verifyAudit } from '#records/audit/audit-verdict.ts';
import type { DatabaseVerdict } from '#engine/sqlite/check.ts';
import type { StoreRecords } from '#records/index.ts';
import type { FactsOf } from '#platform/faults.ts';

export interface RecordsVerifier {
  /** The problems found by the last check; undefined if there were none. */
  faults(): FactsOf<'damaged-records'> | undefined;
  /** Returns whether the database is too corrupt to be relied on. */
  isBroken(): boolean;
  job: { name: string; every: number; inDoubt: 'runs'; inEach: true; run(): Promise<Record<string, unknown>> };
}

export interface RecordsVerifierOptions {
  /** Checks the database. */
  inspect: () => Promise<DatabaseVerdict>;
  /** The remedy for a corrupt database, in a sentence. */
  mend: string;
  records: StoreRecords;
  acts: Acts;
  siteKey: Buffer;
  sealFile: SealFile;
  now: Now;
}

const interval = days(1);
export async function createRecordsVerifier(options: RecordsVerifierOptions): Promise<RecordsVerifier> {
  const { inspect, mend, records, acts, siteKey, sealFile, now } = options;
  let last = JSON.parse((await records.appliance.find(recordsCheckSetting)) ?? 'null') as ProvenRecords | null;
  // Check at each start: the host may have crashed, or the administrator may have repaired the problems.
  let due = true;

  return {
    faults: () =>
      last === null || last.problems === 0
        ? undefined
        : {
            at: last.at,
            count: last.problems,
            first: last.first,
            remedy:
              last.pages === 0 && last.rows === 0
                ? "The guide 'recovery' at /docs/ says what to do about the audit log."
                : mend,
          },
    isBroken: () => (last?.pages ?? 0) > 0,
    job: {
      name: 'prove-records',
      inDoubt: 'runs',
      inEach: true,
      every: hours(1),
      async run() {
        const at = timestamp(now());
        if (!due && last !== null && at < timestamp(after(new Date(last.at), interval))) return {};
        const { pages, rows } = await inspect();
        const audit = await verifyAudit(records, { siteKey, file: sealFile });
        const all = [...pages, ...rows, ...audit.problems];
        const result: ProvenRecords = {
          at,
          problems: all.length,
          pages: pages.length,
          rows: rows.length,
          ...(all[0] !== undefined && { first: all[0] }),
        };
        const details = { problems: all.length, first: all.slice(0, 3) };
        // Set before the result is stored: a corrupt database may refuse the write.
        last = result;
        due = false;
        await acts.do(recordRecordsCheck, itself, { result, first: details.first });
        return details.problems === 0 ? {} : details;
      },
    },
  };
}
