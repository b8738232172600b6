// Verifies the audit log: its rows, their links, its end, its seals, and the seal outside the database.
import { auditHash, beginning, type audit, type AuditRow } from './audit.ts';
import {
  isEarlySeal,
  isEnd,
  isSealed,
  readSealFile,
  problemOfKept,
  sealEvery,
  timeBetween,
  type auditSeals,
  type AuditHead,
  type AuditSeal,
  type SealFile,
} from './audit-seals.ts';

/** The result of the verification. */
export interface AuditVerdict {
  rows: number;
  seals: number;
  head: AuditHead | undefined;
  /** The rows where the log continues from an earlier row than its end, because of an act such as `restore`. */
  restarts: AuditRestart[];
  problems: string[];
}

export interface AuditRestart {
  /** The row that records the act. */
  seq: number;
  at: string;
  /** The act, such as `restore`. */
  by: string;
  /** The end that the log had before, if known. */
  left: AuditHead | undefined;
}

export interface AuditProof {
  siteKey: Buffer;
  /** The file with the newest seal; left out if there is none, as in a backup. */
  file?: Pick<SealFile, 'path' | 'read'> | undefined;
  /** Heads that an administrator has copied off the host. */
  expected?: readonly AuditHead[] | undefined;
  progress?: (rows: number) => void;
  /** Whether the caller has just upgraded the records: the row of the upgrade is the end of the log, and may have no seal. */
  upgraded?: boolean;
}

type AuditReader = Pick<ReturnType<typeof audit>, 'list' | 'end' | 'earlySeals'>;
type ReadingSeals = Pick<ReturnType<typeof auditSeals>, 'list' | 'knows' | 'isLeft' | 'hasRow'>;

const batch = 2000;
const maxProblems = 100;
/** The longest time without a seal that is not a problem. Larder seals twice as often; the clock may have been set in between. */
const maxSealIntervalMs = 2 * sealEvery.milliseconds;

/** Verifies the whole log. Rows appended during the run do no harm, because the end and the seals are read before the rows. */
export async function verifyAudit(
  records: { audit: AuditReader; auditSeals: ReadingSeals },
  { siteKey, file, expected = [], progress, upgraded = false }: AuditProof,
): Promise<AuditVerdict> {
  const content = file && readSealFile(file, siteKey);
  const end = await records.audit.end();
  const problems: string[] = [];
  const seals = await chainOf(records.auditSeals, siteKey, problems);
  if (file !== undefined && content !== undefined) {
    const problem = await problemOfKept(content, file.path, records.auditSeals);
    if (problem !== undefined) problems.push(problem);
  }
  if (end !== undefined && !isEnd(siteKey, end))
    problems.push('the end of the log is not the end that larder has written');

  const must = new Map<number, { hash: string; description: string }[]>();
  const require = ({ seq, hash }: AuditHead, description: string): void => {
    must.set(seq, [...(must.get(seq) ?? []), { hash, description }]);
  };
  for (const seal of seals) require(seal, 'sealed');
  for (const seal of await earlySeals(records.audit, siteKey, problems)) require(seal, 'sealed');
  for (const head of expected) require(head, 'expected');
  if (end !== undefined) require(end, 'the end of the log');

  const newest = seals.at(-1);
  const followed = await follow(records.audit, problems, progress, (row) => {
    for (const { hash, description } of must.get(row.seq) ?? []) {
      if (row.hash !== hash) problems.push(`row ${String(row.seq)} is not the row that was ${description}`);
    }
    must.delete(row.seq);
    const sealedUntil = (end?.seq ?? 0) - (upgraded ? 1 : 0);
    if (newest && row.seq > newest.seq && row.seq <= sealedUntil) checkSealed(row, newest, problems);
  });
  if (followed === undefined) return { rows: 0, seals: seals.length, head: undefined, restarts: [], problems };
  const { rows, head } = followed;
  const last = head?.seq ?? 0;
  // Larder writes a row and the end of the log in one transaction: rows behind the present end are from another program.
  const present = await records.audit.end();
  if (present !== undefined && last > present.seq)
    problems.push(`rows ${String(present.seq + 1)} to ${String(last)} were not written by larder`);
  const furthest = Math.max(0, ...must.keys());
  if (furthest > last) {
    const description = must.get(furthest)?.[0]?.description ?? '';
    problems.push(`the log is cut off after row ${String(last)}; row ${String(furthest)} was ${description}`);
  }
  if (end === undefined && rows > 0) problems.push('the record of the end of the log is missing');
  if (newest === undefined && rows > 0) problems.push('the log has no seal');
  return { rows, seals: seals.length, head, restarts: seals.flatMap(toRestarts), problems };
}

/** Returns the seals, oldest first. Verifies the code of each, and its number and link to the seal before. */
async function chainOf(records: ReadingSeals, siteKey: Buffer, problems: string[]): Promise<AuditSeal[]> {
  const seals: AuditSeal[] = [];
  for (let last: AuditSeal | undefined; ;) {
    const some = await records.list(last?.number ?? 0, batch);
    for (const seal of some) {
      const number = (last?.number ?? 0) + 1;
      if (!isSealed(siteKey, seal)) problems.push(`seal ${String(seal.number)} is not of this store`);
      else if (seal.number !== number)
        problems.push(`seals ${String(number)} to ${String(seal.number - 1)} are missing`);
      else if (seal.previous !== (last?.mac ?? beginning))
        problems.push(`seal ${String(number)} does not follow the seal before it`);
      seals.push(seal);
      last = seal;
      if (problems.length >= maxProblems) return seals;
    }
    if (some.length < batch) return seals;
  }
}

/** Returns the seals of the first release. */
async function earlySeals(records: AuditReader, siteKey: Buffer, problems: string[]): Promise<AuditHead[]> {
  const seals: AuditHead[] = [];
  for (let after = -1; ;) {
    const some = await records.earlySeals(after, batch);
    for (const seal of some) {
      if (!isEarlySeal(siteKey, seal)) problems.push(`the seal of row ${String(seal.seq)} is not of this store`);
      seals.push(seal);
      after = seal.seq;
    }
    if (some.length < batch) return seals;
  }
}

/** Verifies the chain of all rows. Stops and returns undefined if there are too many problems to list. */
async function follow(
  records: AuditReader,
  problems: string[],
  progress: ((rows: number) => void) | undefined,
  look: (row: AuditRow) => void,
): Promise<{ rows: number; head: AuditHead | undefined } | undefined> {
  let rows = 0;
  let head: AuditHead | undefined;
  for (;;) {
    const after = head?.seq ?? 0;
    const some = await records.list(after, batch);
    for (const row of some) {
      rows++;
      const next = (head?.seq ?? 0) + 1;
      if (row.seq !== next) problems.push(`rows ${String(next)} to ${String(row.seq - 1)} are missing`);
      else if (row.previous !== (head?.hash ?? beginning))
        problems.push(`row ${String(row.seq)} does not follow the row before it`);
      if (auditHash(row) !== row.hash) problems.push(`row ${String(row.seq)} was changed after it was written`);
      look(row);
      head = { seq: row.seq, hash: row.hash };
      if (problems.length >= maxProblems) return undefined;
    }
    progress?.(rows);
    if (some.length < batch) return { rows, head };
  }
}

/** Reports a row that larder would have sealed. */
function checkSealed(row: AuditRow, newest: AuditSeal, problems: string[]): void {
  const behind = row.seq - newest.seq;
  if (behind === sealEvery.rows + 1 || (behind <= sealEvery.rows && timeBetween(newest, row) > maxSealIntervalMs)) {
    problems.push(`row ${String(row.seq)} and the rows after it have no seal, but should have one`);
  }
}

const toRestarts = ({ seq, at, anew, leftSeq, leftHash }: AuditSeal): AuditRestart[] =>
  anew === null
    ? []
    : [{ seq, at, by: anew, left: leftSeq === null ? undefined : { seq: leftSeq, hash: leftHash ?? '' } }];
