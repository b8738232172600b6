// Explains errors of the operating system and of SQLite to people: the problem, the file, and the remedy. The original messages and codes
// are for the log.
import { accessSync, closeSync, constants, openSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { shellWord } from '#domain/shell-word.ts';

/** The context of an error, if the error does not name it. */
export interface ErrorContext {
  /** The data directory. */
  data?: string | undefined;
}

/** The error and its causes, outermost first, each in words for people. */
export function inOneSentence(error: unknown, about: ErrorContext = {}): string {
  const clauses: string[] = [];
  for (const cause of listCauses(error)) {
    const words = describeSystemError(cause, about);
    clauses.push(words ?? (cause instanceof Error ? cause.message : String(cause)));
    // The cause of a system error only repeats it in the words of the system.
    if (words !== undefined || saysAll(cause)) break;
  }
  return clauses.join(': ');
}

/** Whether the message of an error already includes its cause. */
const saysAll = (error: unknown): boolean => error instanceof Error && 'saysAll' in error && error.saysAll === true;

/** An error, its cause, and so on. */
export function listCauses(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let cause = error; chain.length === 0 || (cause !== undefined && chain.length < 8);) {
    chain.push(cause);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return chain;
}

type SystemErrorFields = Partial<Pick<NodeJS.ErrnoException, 'code' | 'path' | 'syscall'>> & { dest?: string };

/** Explains an error of the system or of SQLite as a clause without a full stop; undefined for any other error. */
export function describeSystemError(error: unknown, about: ErrorContext = {}): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const fields = error as SystemErrorFields;
  if (typeof fields.code !== 'string') return undefined;
  if (fields.code.startsWith('SQLITE_')) return ofDatabase(fields.code, about);
  return typeof fields.syscall === 'string' || fields.code in ofSystem ? ofSystemCall(fields, about) : undefined;
}

function ofSystemCall(fields: SystemErrorFields, about: ErrorContext): string {
  const path = fields.dest ?? fields.path;
  const code = fields.code ?? '';
  const explain = ofSystem[code];
  if (explain !== undefined) return explain(path ?? about.data, fields);
  return `the system could not ${fields.syscall ?? 'use'} ${displayPath(path ?? about.data)}; LARDER_DEBUG=1 shows its error`;
}

/** The codes for too many open files and connections in this process, or on this machine. */
const tooManyOpen: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);

/** The codes for a disk that cannot be read or written. */
const diskFails = ['EIO', 'EUCLEAN', 'ENODEV', 'ENXIO', 'ESTALE', 'ETIMEDOUT'] as const;

/** Whether the code of a system error means a shortage, and not a failing disk. */
export const isShortage = (code: string): boolean => tooManyOpen.has(code) || code === 'ENOMEM';

/** Whether the code of a system error means a failing disk. */
export const isFailingDisk = (code: string): boolean => diskFails.some((diskCode) => diskCode === code);

/** Whether the cause is too many open files and connections in this process or on this system. */
export function isOutOfFiles(error: unknown): boolean {
  for (const cause of listCauses(error)) {
    if (!(cause instanceof Error && 'code' in cause)) continue;
    if (tooManyOpen.has(String(cause.code))) return true;
    // If a thread cannot be started because too many files are open, the code of the error is only in its message.
    if (cause.code === 'ERR_WORKER_INIT_FAILED' && [...tooManyOpen].some((code) => cause.message.includes(code)))
      return true;
  }
  return false;
}

type SystemErrorExplainer = (path: string | undefined, fields: SystemErrorFields) => string;

const displayPath = (path: string | undefined): string => path ?? 'a file or resource';

const full: SystemErrorExplainer = (path) =>
  `the disk that holds ${displayPath(path)} is full; make room on it, or use a place on another disk, and try again`;

const notAllowed: SystemErrorExplainer = (path, { syscall = '' }) => {
  const does = /^(?:open|read|scandir|stat|lstat|access)/.test(syscall) ? 'open' : 'change';
  const foreign = path === undefined ? undefined : ownerWords(path);
  return `this user may not ${does} ${displayPath(path)}${foreign ?? '; name a place that it may use, or run this as its owner or as root'}`;
};

const tooManyFiles = (whose: string, mend: string): string => `${whose} too many files open; ${mend}, and try again`;

const failing: SystemErrorExplainer = (path) =>
  `the disk cannot read or write ${displayPath(path)}; it may be failing: read the log of the kernel ('journalctl -k'), and have a recent backup ready`;

/** By the name of the error, see errno(3). */
const ofSystem: Readonly<Record<string, SystemErrorExplainer>> = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: (path) =>
    `${displayPath(path)} is on a disk that can only be read; make it writable ('mount -o remount,rw' as root; the log of the kernel shows when the system made it read-only), or use another place`,
  ENOSPC: full,
  EDQUOT: full,
  EMFILE: () =>
    tooManyFiles('this process has', "allow it more ('ulimit -n 65536' before it, or LimitNOFILE=65536 in its unit)"),
  ENFILE: () => tooManyFiles('this machine has', 'end programs that you do not need or raise fs.file-max'),
  ENOMEM: () => 'this machine does not have enough free memory; end programs that you do not need, and try again',
  ...Object.fromEntries(diskFails.map((code) => [code, failing])),
  ENOENT: (path) =>
    path !== undefined && !isThere(dirname(path))
      ? `there is no folder ${dirname(path)}; make it first, or name another place`
      : `there is no ${displayPath(path)}; check the path`,
  ENOTDIR: (path) => `${displayPath(path)} cannot be there: a part of that path is a file, not a folder`,
  EISDIR: (path) => `${displayPath(path)} is a folder, not a file; name a file`,
  EEXIST: (path) => `${displayPath(path)} is there already; name another place, or take it away first`,
  ENOTEMPTY: (path) => `${displayPath(path)} is not empty; name another place, or empty it first`,
  EFBIG: (path) =>
    `${displayPath(path)} would be larger than its disk or this process allows; use a disk with another file system, or raise the limit ('ulimit -f unlimited')`,
  ENAMETOOLONG: (path) => `the name ${basename(displayPath(path)).slice(0, 40)}… is too long; name another place`,
  ELOOP: (path) => `${displayPath(path)} is a link that leads back to itself; mend the link, or name another place`,
  EBUSY: (path) => `${displayPath(path)} is in use by the system; try again, or name another place`,
  EXDEV: (path) => `${displayPath(path)} is on another disk; name a place on the same one`,
  EADDRINUSE: () => 'another program listens there; stop it, or listen elsewhere with --listen or http.listen',
  EADDRNOTAVAIL: () => 'this machine has no such address; name one of its own with --listen or http.listen',
  ENOTFOUND: () => 'this machine knows no such name; name an address with --listen or http.listen',
};

/** Explains an error of the database of a data directory, by the code of SQLite. */
function ofDatabase(code: string, { data }: ErrorContext): string {
  const file = data === undefined ? 'the database' : `the database ${join(data, 'larder.db')}`;
  const directory = data ?? 'the data directory';
  if (/^SQLITE_(?:CORRUPT|NOTADB|FORMAT)/.test(code)) {
    return (
      `${file} is damaged; stop the server, move ${directory} aside, ` +
      `and restore the last backup: 'larder restore FILE --data ${data === undefined ? directory : shellWord(data)} --keys DIR'`
    );
  }
  if (code === 'SQLITE_FULL') return full(data, {});
  if (/^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/.test(code)) return `another process holds ${file}; try again in a moment`;
  if (code.startsWith('SQLITE_NOMEM')) return ofSystem['ENOMEM']!(undefined, {});
  if (/^SQLITE_(?:ERROR|CONSTRAINT|MISMATCH|RANGE|SCHEMA|INTERNAL|MISUSE|TOOBIG)/.test(code))
    return `${file} does not hold what larder expects there; 'larder verify' shows whether it is damaged`;
  return (data === undefined ? undefined : hindrance(data)) ?? failing(file, {});
}

/** Why SQLite cannot open or write the database; SQLite itself does not say. Opens no file that SQLite has locked. */
function hindrance(data: string): string | undefined {
  const probes: number[] = [];
  try {
    // As many as SQLite opens for a database with its log.
    while (probes.length < 8) probes.push(openSync(data, 'r'));
    const { bavail } = statfsSync(data);
    if (bavail === 0) return full(data, {});
    for (const name of ['', 'larder.db', 'larder.db-wal', 'larder.db-shm', 'store.lock']) {
      const path = join(data, name);
      if (name === 'larder.db' || isThere(path)) accessSync(path, constants.R_OK | constants.W_OK);
    }
    return undefined;
  } catch (error) {
    return describeSystemError(error, { data });
  } finally {
    for (const probe of probes) closeSync(probe);
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Names the owner of a file that this user may not use, if the folder belongs to this user: then the wrong owner is the problem. */
function ownerWords(path: string): string | undefined {
  try {
    const folder = dirname(path);
    const [file, around] = [statSync(path), statSync(folder)];
    if (file.uid === around.uid || around.uid !== process.getuid?.()) return undefined;
    return `: it belongs to the user with id ${String(file.uid)}, and the folder to ${String(around.uid)}; run as root 'chown -R ${String(around.uid)}:${String(around.gid)} ${folder}'`;
  } catch {
    return undefined;
  }
}
