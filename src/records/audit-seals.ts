// Seals of the audit log: heads of it, in a chain of their own under codes that only the holder of the site key can
// compute. Whoever can write the database and has no site key cannot cut the log, nor write any of it anew, unseen.
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';

import { hours } from '#domain/clock.ts';
import { columns, sql, type Queries } from '#engine/database.ts';

/** A row of the log by its number and hash, which stand for it and everything before it. */
export interface AuditHead {
  seq: number;
  hash: string;
}

/** A sealed head. */
export interface AuditSeal extends AuditHead {
  /** Counts from 1. */
  number: number;
  /** When its row was written, RFC 3339. */
  at: string;
  /** The code of the seal before. */
  previous: string;
  /** By what the log went on from somewhere else than where it had ended, such as `restore`. */
  anew: string | null;
  /** The newest seal that was left behind by that, where one was known. */
  leftSeq: number | null;
  leftHash: string | null;
  leftMac: string | null;
  mac: string;
}

/** What the next seal has to know of the one before it. */
export type NewestSeal = Pick<AuditSeal, 'number' | 'seq' | 'at' | 'mac'>;

/** How far the log has come since its newest seal, under the code of its end. */
export type NotedEnd = AuditHead & { mac: string };

/** Where the newest seal is kept a second time, outside the database. */
export interface SealFile {
  /** Its path, for people. */
  path: string;
  /** Its text, or nothing when there is none; throws when it cannot be read. */
  read(): string | undefined;
  /** Puts a text in its place, durably and all at once. */
  write(text: string): void;
}

/** What it takes to seal. */
export interface Sealing {
  siteKey: Buffer;
  file: SealFile;
  /** Hears what is wrong with the seals, or undefined when nothing is. */
  report(problem: string | undefined): void;
}

/** A row is sealed with what was written before it, at the latest, when the newest seal is so far behind. */
export const sealEvery = { rows: 100, milliseconds: hours(1) };

const nothing = '0'.repeat(64);
const goesOn = { anew: null, leftSeq: null, leftHash: null, leftMac: null };

const sealColumns = columns`
  number, seq, hash, at, previous, anew, left_seq AS "leftSeq", left_hash AS "leftHash", left_mac AS "leftMac", mac`;

export const auditSeals = (db: Pick<Queries, 'get' | 'all'>) => ({
  newest: () =>
    db.get<AuditSeal>(sql`
      SELECT ${sealColumns}
      FROM audit_seal_chain ORDER BY number DESC LIMIT 1`),

  /** The seals after a number, oldest first. */
  list: (after: number, limit: number) =>
    db.all<AuditSeal>(sql`
      SELECT ${sealColumns}
      FROM audit_seal_chain WHERE number > ${after} ORDER BY number LIMIT ${limit}`),

  /** Whether a seal is one of the chain, or stands before its first, or was left behind by one of it. */
  knows: async ({ number, mac }: Pick<AuditSeal, 'number' | 'mac'>): Promise<boolean> =>
    number === 0 ||
    (await db.get(sql`SELECT 1 FROM audit_seal_chain WHERE number = ${number} AND mac = ${mac}`)) !== undefined ||
    (await db.get(sql`SELECT 1 FROM audit_seal_chain WHERE left_mac = ${mac}`)) !== undefined,

  /** Whether the log goes on from somewhere else since a seal, or the seal was left behind: then it says nothing of the end. */
  isLeft: async ({ number, mac }: Pick<AuditSeal, 'number' | 'mac'>): Promise<boolean> =>
    (await db.get(
      sql`SELECT 1 FROM audit_seal_chain WHERE left_mac = ${mac} OR (number > ${number} AND anew IS NOT NULL) LIMIT 1`,
    )) !== undefined,

  /** Whether the log has this row. */
  hasRow: async ({ seq, hash }: AuditHead): Promise<boolean> =>
    (await db.get(sql`SELECT 1 FROM audit WHERE seq = ${seq} AND hash = ${hash}`)) !== undefined,
});

/** Says in the file that nothing is sealed yet; from then on it is always there. */
export function beginSealing({ siteKey, file }: Pick<Sealing, 'siteKey' | 'file'>): void {
  if (file.read() !== undefined) return;
  const first = { number: 0, seq: 0, hash: nothing, at: '', previous: nothing, ...goesOn };
  file.write(textOf(sealed(siteKey, first)));
}

/** How a seal comes about that is not merely due. */
export interface Occasion {
  /** Seals at once. */
  now?: boolean;
  /** Goes on from somewhere else than where the log had ended: by what, and what is left behind. */
  anew?: { by: string; left: AuditSeal | undefined };
}

/**
 * Seals a head in the transaction that has written it, when that is due. The seal is to be kept in the file too, once the
 * transaction is on disk. A file that the chain does not know is evidence: nothing is sealed over it.
 */
export async function sealHead(
  db: Queries,
  { siteKey, file, report }: Sealing,
  head: AuditHead & { at: string },
  newest: NewestSeal | undefined,
  { now = false, anew }: Occasion = {},
): Promise<AuditSeal | undefined> {
  if (newest?.seq === head.seq) return undefined;
  if (!now && anew === undefined && newest !== undefined && !isDue(newest, head)) return undefined;
  if (anew === undefined) {
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
    anew: anew?.by ?? null,
    leftSeq: anew?.left?.seq ?? null,
    leftHash: anew?.left?.hash ?? null,
    leftMac: anew?.left?.mac ?? null,
  });
  await db.run(sql`
    INSERT INTO audit_seal_chain (number, seq, hash, at, previous, anew, left_seq, left_hash, left_mac, mac)
    VALUES (${seal.number}, ${seal.seq}, ${seal.hash}, ${seal.at}, ${seal.previous}, ${seal.anew}, ${seal.leftSeq},
      ${seal.leftHash}, ${seal.leftMac}, ${seal.mac})`);
  return seal;
}

/** Keeps a seal that is on disk in the file too, unless another process has kept a later one. */
export function keepSeal({ siteKey, file, report }: Sealing, seal: AuditSeal): void {
  try {
    const kept = keptIn(file, siteKey);
    if (seal.anew === null && typeof kept === 'object' && kept.number >= seal.number) return;
    file.write(textOf(seal, seal.anew === null ? notedBehind(kept, seal) : undefined));
  } catch (error) {
    report(cannotUse(file, error));
  }
}

/** Holds the file against the chain, reports what is wrong, and otherwise brings it up to the newest seal. */
export async function settle(db: Pick<Queries, 'get' | 'all'>, sealing: Sealing): Promise<void> {
  const problem = await problemOfFile(db, sealing);
  sealing.report(problem);
  if (problem !== undefined) return;
  const newest = await auditSeals(db).newest();
  if (newest === undefined) return;
  try {
    const kept = keptIn(sealing.file, sealing.siteKey);
    const isLeft = typeof kept === 'string' || (await auditSeals(db).isLeft(kept));
    const text = textOf(newest, isLeft ? undefined : notedBehind(kept, newest));
    if (sealing.file.read() !== text) sealing.file.write(text);
  } catch (error) {
    sealing.report(cannotUse(sealing.file, error));
  }
}

/**
 * Notes beside the seal in the file how far the log has come: a copy of the database without its write-ahead log lacks the last
 * minutes, and the newest seal may be an hour old. The database is only read. A file that does not fit the log is left as it is.
 */
export async function noteEnd(
  db: Pick<Queries, 'get' | 'all'>,
  { siteKey, file, report }: Sealing,
  end: (AuditHead & { mac: string | null }) | undefined,
): Promise<void> {
  if (end === undefined || end.mac === null || !isEnd(siteKey, end)) return;
  const { seq, hash, mac } = end;
  try {
    const kept = keptIn(file, siteKey);
    if (typeof kept === 'string' || Math.max(kept.seq, kept.last?.seq ?? 0) >= seq) return;
    if ((await problemOfFile(db, { siteKey, file })) !== undefined || (await auditSeals(db).isLeft(kept))) return;
    file.write(textOf(kept, { seq, hash, mac }));
  } catch (error) {
    report(cannotUse(file, error));
  }
}

/** What a file notes of the log behind a seal. */
const notedBehind = (kept: Kept, { seq }: AuditSeal): NotedEnd | undefined =>
  typeof kept === 'object' && kept.last !== undefined && kept.last.seq > seq ? kept.last : undefined;

/** The seal in the file, where the chain does not know it: that far the log had come. */
export async function leftBehind(
  db: Pick<Queries, 'get' | 'all'>,
  { siteKey, file }: Sealing,
): Promise<AuditSeal | undefined> {
  const kept = keptIn(file, siteKey);
  return typeof kept === 'string' || (await auditSeals(db).knows(kept)) ? undefined : kept;
}

/**
 * What is wrong with the file, in the light of the chain: undefined when the chain knows its seal. The file may lag behind
 * the chain, where a process was killed before it had written it.
 */
export async function problemOfFile(
  db: Pick<Queries, 'get' | 'all'>,
  { siteKey, file }: Pick<Sealing, 'siteKey' | 'file'>,
): Promise<string | undefined> {
  let kept: Kept;
  try {
    kept = keptIn(file, siteKey);
  } catch (error) {
    return cannotUse(file, error);
  }
  return problemOfKept(kept, file.path, auditSeals(db));
}

/** The same for what was read from the file earlier. */
export async function problemOfKept(
  kept: Kept,
  path: string,
  { knows, isLeft, hasRow }: Pick<ReturnType<typeof auditSeals>, 'knows' | 'isLeft' | 'hasRow'>,
): Promise<string | undefined> {
  if (kept === 'missing') return `the audit log's newest seal is missing: there is no ${path}`;
  if (kept === 'foreign') return `the seal in ${path} is not of this store, or was changed`;
  if (await knows(kept)) {
    if (kept.last === undefined || (await isLeft(kept)) || (await hasRow(kept.last))) return undefined;
    return (
      `the database is older than ${path} says: the audit log had come to row ${String(kept.last.seq)}:${kept.last.hash}, ` +
      'and the database does not have that row, so the last changes are missing'
    );
  }
  return (
    `the audit log was cut off or put back: by the seal in ${path} it had come to row ` +
    `${String(kept.seq)}:${kept.hash}, and the database does not know of that seal`
  );
}

/** What the file holds: a seal of this store, none, or something else. */
export type Kept = (AuditSeal & { last?: NotedEnd }) | 'missing' | 'foreign';

/** Reads the file; throws when it cannot be read, which proves nothing. */
export function keptIn(file: SealFile, siteKey: Buffer): Kept {
  const text = file.read();
  if (text === undefined) return 'missing';
  const seal = sealIn(text);
  if (seal === undefined || !isSealed(siteKey, seal)) return 'foreign';
  return seal.last === undefined || isEnd(siteKey, seal.last) ? seal : 'foreign';
}

const cannotUse = (file: SealFile, error: unknown): string =>
  `the audit log's newest seal cannot be kept in ${file.path}: ${error instanceof Error ? error.message : String(error)}`;

/** Whether a seal is of this store. */
export const isSealed = (siteKey: Buffer, seal: AuditSeal): boolean => isSame(seal.mac, sealed(siteKey, seal).mac);

/** Whether the end of the log is the one that larder has written last; it stands under a code of its own. */
export const isEnd = (siteKey: Buffer, end: AuditHead & { mac: string | null }): boolean =>
  isSame(end.mac ?? '', endMac(siteKey, end));

/** The code under which the end of the log stands. */
export const endMac = (siteKey: Buffer, { seq, hash }: AuditHead): string => mac(siteKey, 'audit end', [seq, hash]);

/** A single seal of the first release. */
export const isEarlySeal = (siteKey: Buffer, { seq, hash, at, mac: known }: EarlySeal): boolean =>
  isSame(known, mac(siteKey, 'audit seal', [seq, hash, at]));

/** The first release sealed heads one by one: nothing shows where one of them is gone. */
export interface EarlySeal extends AuditHead {
  at: string;
  mac: string;
}

function sealed(siteKey: Buffer, seal: Omit<AuditSeal, 'mac'>): AuditSeal {
  const { number, seq, hash, at, previous, anew, leftSeq, leftHash, leftMac } = seal;
  const said = { number, seq, hash, at, previous, anew, leftSeq, leftHash, leftMac };
  return { ...said, mac: mac(siteKey, 'audit seal chain', Object.values(said)) };
}

const mac = (siteKey: Buffer, purpose: string, said: unknown[]): string =>
  createHmac('sha256', keyFor(siteKey, purpose)).update(JSON.stringify(said)).digest('hex');

/** Derived once for each purpose, in 10 µs, and a key object, which saves 27 µs of each code: every change needs two (`npm run bench -- tricks`). */
function keyFor(siteKey: Buffer, purpose: string): KeyObject {
  const known = derived.get(siteKey) ?? new Map<string, KeyObject>();
  derived.set(siteKey, known);
  const key = known.get(purpose) ?? createSecretKey(Buffer.from(hkdfSync('sha256', siteKey, '', purpose, 32)));
  known.set(purpose, key);
  return key;
}

const derived = new WeakMap<Buffer, Map<string, KeyObject>>();

function isSame(known: string, computed: string): boolean {
  const [one, other] = [Buffer.from(known), Buffer.from(computed)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const isDue = (newest: NewestSeal, head: AuditHead & { at: string }): boolean =>
  head.seq - newest.seq >= sealEvery.rows || !(timeBetween(newest, head) < sealEvery.milliseconds);

/** Whichever of two was first: clocks are set back. */
export const timeBetween = (one: { at: string }, other: { at: string }): number =>
  Math.abs(Date.parse(other.at) - Date.parse(one.at));

function textOf(seal: AuditSeal, last?: NotedEnd): string {
  const { number, seq, hash, at, previous, anew, leftSeq, leftHash, leftMac, mac } = seal;
  const text = { number, seq, hash, at, previous, anew, leftSeq, leftHash, leftMac, mac, last };
  return `${JSON.stringify(text)}\n`;
}

function sealIn(text: string): (AuditSeal & { last?: NotedEnd }) | undefined {
  try {
    const said = JSON.parse(text) as (AuditSeal & { last?: NotedEnd | null }) | null;
    if (typeof said?.mac !== 'string' || !Number.isSafeInteger(said.number)) return undefined;
    const { last, ...seal } = said;
    return last === undefined || last === null || typeof last.mac !== 'string' ? seal : { ...seal, last };
  } catch {
    return undefined;
  }
}
