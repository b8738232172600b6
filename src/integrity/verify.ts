// Verifies the whole store: the database, the audit log, and every blob.
import type { Blobs, StoredBlob } from '#blobs/blobs.ts';
import { listBlobs } from '#blobs/list-blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import type { SealFile } from '#records/audit/audit-seals.ts';
import { verifyAudit, type AuditVerdict } from '#records/audit/audit-verdict.ts';
import type { DatabaseVerdict } from '#engine/sqlite/check.ts';
import type { StoreRecords } from '#records/index.ts';
import { verifyBlob } from './verify-blob.ts';

export interface StoreVerdict {
  good: boolean;
  database: string[];
  audit: AuditVerdict;
  blobs: { checked: number; bytes: number; damaged: StoredBlob[]; unreadable: string[]; missing: string[] };
}

export interface VerifyOptions {
  /** Checks the database. */
  inspect: () => Promise<DatabaseVerdict>;
  records: StoreRecords;
  blobs: Blobs;
  digests: DigestPool;
  siteKey: Buffer;
  sealFile: SealFile;
  progress: (step: string, done: number, total: number) => void;
}

/** Number of blobs that are read concurrently; the pool has its own threads. */
const readConcurrency = 4;

export async function verifyStore({
  inspect,
  records,
  blobs,
  digests,
  siteKey,
  sealFile,
  progress,
}: VerifyOptions): Promise<StoreVerdict> {
  progress('database', 0, 1);
  const { pages, rows } = await inspect();
  const database = [...pages, ...rows];
  progress('database', 1, 1);

  const end = (await records.audit.end())?.seq ?? 0;
  const audit = await verifyAudit(records, {
    siteKey,
    file: sealFile,
    progress: (rows) => {
      progress('audit log', rows, end);
    },
  });

  const stored: StoredBlob[] = [];
  let total = 0;
  for await (const blob of listBlobs(blobs, records.neededContents.all())) {
    stored.push(blob);
    total += blob.size;
  }
  const damaged: StoredBlob[] = [];
  const unreadable: string[] = [];
  let bytes = 0;
  const waiting = [...stored];
  const reader = async (): Promise<void> => {
    for (let blob = waiting.pop(); blob !== undefined; blob = waiting.pop()) {
      const { verdict } = await verifyBlob(blob, blobs, digests, (read) => {
        bytes += read;
        progress('blobs', bytes, total);
        return true;
      });
      if (verdict === 'damaged') damaged.push(blob);
      if (verdict === 'unreadable') unreadable.push(blob.sha3_384);
    }
  };
  await Promise.all(Array.from({ length: readConcurrency }, reader));

  const missing = await missingContents(records, blobs);
  const good = database.length + audit.problems.length + damaged.length + unreadable.length + missing.length === 0;
  return { good, database, audit, blobs: { checked: stored.length, bytes, damaged, unreadable, missing } };
}

/**
 * Returns the blobs that records need and that do not exist. Asks the records twice, because an unclaimed upload may just have been
 * deleted.
 */
export async function missingContents(
  records: Pick<StoreRecords, 'neededContents'>,
  blobs: Pick<Blobs, 'stat'>,
): Promise<string[]> {
  const missing: string[] = [];
  for await (const sha3_384 of records.neededContents.all()) {
    if ((await blobs.stat(sha3_384)) !== undefined || !(await records.neededContents.has(sha3_384))) continue;
    missing.push(sha3_384);
  }
  return missing;
}
