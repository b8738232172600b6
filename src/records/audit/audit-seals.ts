// Seals of the audit log: heads of the log in their own chain, under codes that only a holder of the site key can compute. Write access to
// the database without the site key is not enough to cut or rewrite the log unnoticed.
import { createMac, createSecretKey, deriveKey, timingSafeEqual, type KeyObject } from '#domain/cryptography.ts';
import { hours } from '#domain/clock.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

/** A row of the log by its number and hash. It stands for the row and everything before it. */
export interface AuditHead {
  seq: number;
  hash: string;
}

/** A sealed head. */
export interface AuditSeal extends AuditHead {
  /** Counts from 1. */
  number: number;
  /** When the row was written, RFC 3339. */
  at: string;
  /** The code of the seal before. */
  previous: string;
  /** The act, such as `restore`, that made the log continue from an earlier row than its end; null for an ordinary seal. */
  anew: string | null;
  /** The newest seal that this act dropped from the chain, if known. */
  leftSeq: number | null;
  leftHash: string | null;
  leftMac: string | null;
  mac: string;
}

/** The members of the previous seal that the next one needs. */
export type NewestSeal = Pick<AuditSeal, 'number' | 'seq' | 'at' | 'mac'>;

/** The end of the log after its newest seal, with its code. */
export type SealedAuditEnd = AuditHead & { mac: string };

/** The second place of the newest seal, outside the database. */
export interface SealFile {
  /** Its path, for people. */
  path: string;
  /** Returns its text, or undefined if it does not exist. Throws if it cannot be read. */
  read(): string | undefined;
  /**
   * Replaces its text with the result of `change`, atomically and durably; keeps it if the result is undefined. Updates of one process run
   * in the order of the calls. Other changes of the store are committed during the write.
   */
  update(change: (text: string | undefined) => Promise<string | undefined> | string | undefined): Promise<void>;
}

/** The parts that sealing needs. */
export interface Sealing {
  siteKey: Buffer;
  file: SealFile;
  /** Called with the problem of the seals, or with undefined if there is none. */
  report(problem: string | undefined): void;
}

/** The maximum distance between the head of the log and its newest seal, in rows and in milliseconds. */
export const sealEvery = { rows: 100, milliseconds: hours(1) };

const nothing = '0'.repeat(64);
const ordinarySeal = { anew: null, leftSeq: null, leftHash: null, leftMac: null };

const sealColumns = columns`
  number, seq, hash, at, previous, anew, left_seq AS "leftSeq", left_hash AS "leftHash", left_mac AS "leftMac", mac`;

export const auditSeals = (db: Pick<Queries, 'get' | 'all'>) => ({
  newest: () =>
    db.get<AuditSeal>(sql`
      SELECT ${sealColumns}
      FROM audit_seal_chain ORDER BY number DESC LIMIT 1`),

  /** Lists the seals after a number, oldest first. */
  list: (after: number, limit: number) =>
    db.all<AuditSeal>(sql`
      SELECT ${sealColumns}
      FROM audit_seal_chain WHERE number > ${after} ORDER BY number LIMIT ${limit}`),

  /**
   * Returns whether the database accounts for a seal of the file: it is the initial seal (number 0), or in the chain, or the chain says that
   * an act such as `restore` dropped it.
   */
  knows: async ({ number, mac }: Pick<AuditSeal, 'number' | 'mac'>): Promise<boolean> =>
    number === 0 ||
    (await db.get(sql`SELECT 1 FROM audit_seal_chain WHERE number = ${number} AND mac = ${mac}`)) !== undefined ||
    (await db.get(sql`SELECT 1 FROM audit_seal_chain WHERE left_mac = ${mac}`)) !== undefined,

  /**
   * Returns whether an act such as `restore` dropped a seal, or made the log continue from an earlier row since. Then the seal says nothing
   * about the end of the log.
   */
  isLeft: async ({ number, mac }: Pick<AuditSeal, 'number' | 'mac'>): Promise<boolean> =>
    (await db.get(
      sql`SELECT 1 FROM audit_seal_chain WHERE left_mac = ${mac} OR (number > ${number} AND anew IS NOT NULL) LIMIT 1`,
    )) !== undefined,

  /** Returns whether the log has this row. */
  hasRow: async ({ seq, hash }: AuditHead): Promise<boolean> =>
    (await db.get(sql`SELECT 1 FROM audit WHERE seq = ${seq} AND hash = ${hash}`)) !== undefined,
});

/** Writes a seal file that says that nothing is sealed yet. From then on the file must exist. */
export async function beginSealing({ siteKey, file }: Pick<Sealing, 'siteKey' | 'file'>): Promise<void> {
  const first = { number: 0, seq: 0, hash: nothing, at: '', previous: nothing, ...ordinarySeal };
  await file.update((text) => (text === undefined ? textOf(sealed(siteKey, first)) : undefined));
}

/** Reasons to seal before it is due. */
export interface SealOccasion {
  /** Whether to seal at once. */
  now?: boolean;
  /** Set if the act, such as `restore`, makes the log continue from an earlier row: its name, and the newest seal that it drops. */
  restart?: { act: string; left: AuditSeal | undefined };
}

/**
 * Seals a head in the transaction that wrote it, if a seal is due. Returns the seal, which the caller writes to the file after the commit.
 * If the file does not fit the chain, the log may have been tampered with: reports that and seals nothing.
 */
export async function sealHead(
  db: Queries,
  { siteKey, file, report }: Sealing,
  head: AuditHead & { at: string },
  newest: NewestSeal | undefined,
  { now = false, restart }: SealOccasion = {},
): Promise<AuditSeal | undefined> {
  if (newest?.seq === head.seq) return undefined;
  if (!now && restart === undefined && newest !== undefined && !isDue(newest, head)) return undefined;
  if (restart === undefined) {
    const problem = await problemOfFile(db, { siteKey, file });
    report(problem);
    if (problem !== undefined) return undefined;
  }
  const seal = sealed(siteKey, {
    number: (newest?.number ?? 0) + 1,
    seq: head.seq,
    hash: head.hash,
    at: head.at,
    previous: newest?.mac ?? nothing,
    anew: restart?.act ?? null,
    leftSeq: restart?.left?.seq ?? null,
    leftHash: restart?.left?.hash ?? null,
    leftMac: restart?.left?.mac ?? null,
  });
  await db.write(sql`
    INSERT INTO audit_seal_chain (number, seq, hash, at, previous, anew, left_seq, left_hash, left_mac, mac)
    VALUES (${seal.number}, ${seal.seq}, ${seal.hash}, ${seal.at}, ${seal.previous}, ${seal.anew}, ${seal.leftSeq},
      ${seal.leftHash}, ${seal.leftMac}, ${seal.mac})`);
  return seal;
}

/** Writes a committed seal to the file, unless another process has written a later one. */
export async function writeSeal({ siteKey, file, report }: Sealing, seal: AuditSeal): Promise<void> {
  const restarts = seal.anew !== null;
  try {
    await file.update((text) => {
      const content = readContent(text, siteKey);
      if (restarts) return textOf(seal);
      if (typeof content === 'object' && content.number >= seal.number) return undefined;
      return textOf(seal, findLaterEnd(content, seal));
    });
  } catch (error) {
    report(cannotUse(file, error));
  }
}

/** Checks the file against the chain. Reports a problem, or updates the file to the newest seal. */
export async function settle(db: Pick<Queries, 'get' | 'all'>, sealing: Sealing): Promise<void> {
  const problem = await problemOfFile(db, sealing);
  sealing.report(problem);
  if (problem !== undefined) return;
  const newest = await auditSeals(db).newest();
  if (newest === undefined) return;
  try {
    await sealing.file.update(async (before) => {
      const content = readContent(before, sealing.siteKey);
      const isLeft = typeof content === 'string' || (await auditSeals(db).isLeft(content));
      const text = textOf(newest, isLeft ? undefined : findLaterEnd(content, newest));
      return text === before ? undefined : text;
    });
  } catch (error) {
    sealing.report(cannotUse(sealing.file, error));
  }
}

/**
 * Writes the current end of the log next to the seal in the file. A copy of the database without its write-ahead log lacks the last
 * minutes, and the newest seal may be an hour old. The database is only read. A file that does not fit the log stays unchanged.
 */
export async function writeEnd(
  db: Pick<Queries, 'get' | 'all'>,
  { siteKey, file, report }: Sealing,
  end: (AuditHead & { mac: string | null }) | undefined,
): Promise<void> {
  if (end === undefined || end.mac === null || !isEnd(siteKey, end)) return;
  const { seq, hash, mac } = end;
  try {
    await file.update(async (text) => {
      const content = readContent(text, siteKey);
      if (typeof content === 'string' || Math.max(content.seq, content.last?.seq ?? 0) >= seq) return undefined;
      const seals = auditSeals(db);
      if ((await problemOfKept(content, file.path, seals)) !== undefined || (await seals.isLeft(content)))
        return undefined;
      return textOf(content, { seq, hash, mac });
    });
  } catch (error) {
    report(cannotUse(file, error));
  }
}

/** Returns the end of the log in a file, if it is later than the seal. */
const findLaterEnd = (content: SealFileContent, { seq }: AuditSeal): SealedAuditEnd | undefined =>
  typeof content === 'object' && content.last !== undefined && content.last.seq > seq ? content.last : undefined;

/** Returns the seal in the file if it is not in the chain: it shows a row that the log had reached before it was cut or restored. */
export async function findUnknownSeal(
  db: Pick<Queries, 'get' | 'all'>,
  { siteKey, file }: Sealing,
): Promise<AuditSeal | undefined> {
  const content = readSealFile(file, siteKey);
  return typeof content === 'string' || (await auditSeals(db).knows(content)) ? undefined : content;
}

/**
 * Returns the problem of the file, compared with the chain; undefined if the chain knows its seal. The file may lag behind the chain if a
 * process was killed before it wrote the file.
 */
export async function problemOfFile(
  db: Pick<Queries, 'get' | 'all'>,
  { siteKey, file }: Pick<Sealing, 'siteKey' | 'file'>,
): Promise<string | undefined> {
  let content: SealFileContent;
  try {
    content = readSealFile(file, siteKey);
  } catch (error) {
    return cannotUse(file, error);
  }
  return problemOfKept(content, file.path, auditSeals(db));
}

/** Like `problemOfFile`, for the content of the file, which the caller has read. */
export async function problemOfKept(
  content: SealFileContent,
  path: string,
  { knows, isLeft, hasRow }: Pick<ReturnType<typeof auditSeals>, 'knows' | 'isLeft' | 'hasRow'>,
): Promise<string | undefined> {
  if (content === 'missing') return `the audit log's newest seal is missing: there is no ${path}`;
  if (content === 'foreign') return `the seal in ${path} is not of this store, or was changed`;
  if (await knows(content)) {
    if (content.last === undefined || (await isLeft(content)) || (await hasRow(content.last))) return undefined;
    return (
      `the database is older than ${path} says: the audit log ended with row ${String(content.last.seq)}:${content.last.hash}, ` +
      'but the database does not have that row, so the last changes are missing'
    );
  }
  return (
    `the last rows of the audit log were removed, or the database is an older copy: the seal in ${path} covers the log up to row ` +
    `${String(content.seq)}:${content.hash}, but the database does not have that seal`
  );
}

/** The content of the seal file. `missing`: the file does not exist. `foreign`: it has no valid seal of this store. */
export type SealFileContent = (AuditSeal & { last?: SealedAuditEnd }) | 'missing' | 'foreign';

/** Reads the seal file. Throws if it cannot be read, which is not evidence of tampering. */
export const readSealFile = (file: Pick<SealFile, 'read'>, siteKey: Buffer): SealFileContent =>
  readContent(file.read(), siteKey);

function readContent(text: string | undefined, siteKey: Buffer): SealFileContent {
  if (text === undefined) return 'missing';
  const seal = sealIn(text);
  if (seal === undefined || !isSealed(siteKey, seal)) return 'foreign';
  return seal.last === undefined || isEnd(siteKey, seal.last) ? seal : 'foreign';
}

const cannotUse = (file: SealFile, error: unknown): string =>
  `the audit log's newest seal cannot be kept in ${file.path}: ${error instanceof Error ? error.message : String(error)}`;

/** Returns whether this store made a seal. */
export const isSealed = (siteKey: Buffer, seal: AuditSeal): boolean => isSame(seal.mac, sealed(siteKey, seal).mac);

/** Returns whether larder wrote this end of the log, by its code. */
export const isEnd = (siteKey: Buffer, end: AuditHead & { mac: string | null }): boolean =>
  isSame(end.mac ?? '', endMac(siteKey, end));

/**
 * Returns the code of the end of the log. The latest is kept, because the next change checks it again: 2 % of a change by one client
 * (`npm run bench -- writes`).
 */
export function endMac(siteKey: Buffer, { seq, hash }: AuditHead): string {
  if (latestEnd?.siteKey !== siteKey || latestEnd.seq !== seq || latestEnd.hash !== hash) {
    latestEnd = { siteKey, seq, hash, mac: mac(siteKey, 'audit end', [seq, hash]) };
  }
  return latestEnd.mac;
}

let latestEnd: (SealedAuditEnd & { siteKey: Buffer }) | undefined;

/** Returns whether this store made a seal of the first release. */
export const isEarlySeal = (siteKey: Buffer, { seq, hash, at, mac: storedMac }: EarlySeal): boolean =>
  isSame(storedMac, mac(siteKey, 'audit seal', [seq, hash, at]));

/** A seal of the first release. These seals form no chain, so a missing one is not noticed. */
export interface EarlySeal extends AuditHead {
  at: string;
  mac: string;
}

function sealed(siteKey: Buffer, seal: Omit<AuditSeal, 'mac'>): AuditSeal {
  const { number, seq, hash, at, previous, anew, leftSeq, leftHash, leftMac } = seal;
  const fields = { number, seq, hash, at, previous, anew, leftSeq, leftHash, leftMac };
  return { ...fields, mac: mac(siteKey, 'audit seal chain', Object.values(fields)) };
}

const mac = (siteKey: Buffer, purpose: string, fields: unknown[]): string =>
  createMac('audit seal', keyFor(siteKey, purpose)).update(JSON.stringify(fields)).digest('hex');

/**
 * Derives the key once for each purpose (10 µs), as a key object, which saves 27 µs for each code; every change needs two codes (`npm run
 * bench -- tricks`).
 */
function keyFor(siteKey: Buffer, purpose: string): KeyObject {
  const keys = derived.get(siteKey) ?? new Map<string, KeyObject>();
  derived.set(siteKey, keys);
  const key = keys.get(purpose) ?? createSecretKey(deriveKey(siteKey, purpose));
  keys.set(purpose, key);
  return key;
}

const derived = new WeakMap<Buffer, Map<string, KeyObject>>();

function isSame(stored: string, computed: string): boolean {
  const [bytes, other] = [Buffer.from(stored), Buffer.from(computed)];
  return bytes.length === other.length && timingSafeEqual(bytes, other);
}

const isDue = (newest: NewestSeal, head: AuditHead & { at: string }): boolean =>
  head.seq - newest.seq >= sealEvery.rows || !(timeBetween(newest, head) < sealEvery.milliseconds);

/** Returns the absolute difference, because clocks may be set back. */
export const timeBetween = (moment: { at: string }, other: { at: string }): number =>
  Math.abs(Date.parse(other.at) - Date.parse(moment.at));

function textOf(seal: AuditSeal, last?: SealedAuditEnd): string {
  const { number, seq, hash, at, previous, anew, leftSeq, leftHash, leftMac, mac } = seal;
  const text = { number, seq, hash, at, previous, anew, leftSeq, leftHash, leftMac, mac, last };
  return `${JSON.stringify(text)}\n`;
}

function sealIn(text: string): (AuditSeal & { last?: SealedAuditEnd }) | undefined {
  try {
    const parsed = JSON.parse(text) as (AuditSeal & { last?: SealedAuditEnd | null }) | null;
    if (typeof parsed?.mac !== 'string' || !Number.isSafeInteger(parsed.number)) return undefined;
    const { last, ...seal } = parsed;
    return last === undefined || last === null || typeof last.mac !== 'string' ? seal : { ...seal, last };
  } catch {
    return undefined;
  }
}
