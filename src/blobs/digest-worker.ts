// The thread that computes digests. It follows files while the main thread writes them: told how far a file has grown,
// it reads the new bytes with a descriptor of its own, out of the page cache, or past it where it is asked to. Or it copies:
// what it reads from one file it writes to another one, and digests it on the way, while it is in the processor's cache.
import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, ftruncateSync, futimesSync, openSync, readSync, writeSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

/** What the main thread says. Messages about one job come in the order they were sent. */
export type DigestOrder =
  | { job: number; order: 'follow'; path: string; algorithms: readonly string[]; direct: boolean }
  | { job: number; order: 'copy'; to: number; algorithms: readonly string[]; direct: boolean }
  | { job: number; order: 'from'; descriptor: number; offset: number }
  | { job: number; order: 'grown'; size: number }
  | { job: number; order: 'end'; time?: Date | undefined }
  | { job: number; order: 'abandon' };

/**
 * What the thread answers: how far it has read, the digests in hexadecimal, or why there are none. The code of an error, and
 * whether it came of reading, is said by itself, because an error that is sent from thread to thread arrives without it.
 */
export type DigestReport =
  | { job: number; report: 'read'; size: number }
  | { job: number; report: 'digests'; size: number; digests: string[] }
  | { job: number; report: 'failed'; message: string; code: string | undefined; syscall: string | undefined };

/** A file that is copied, by the descriptors of others, which stay theirs. */
interface Copy {
  to: number;
  from: number;
  /** Where in it what is read next lies. */
  offset: number;
  hashes: Hash[];
  /** How much was copied. */
  read: number;
  /** Of a copy that is written past the page cache, which takes whole pages: what is read, and no page yet. */
  rest: Uint8Array | undefined;
}

interface Job {
  path: string;
  descriptor: number;
  /** Whether the descriptor reads from the disk itself. */
  direct: boolean;
  /** All of them take each piece as it is read, so that the file is read once. */
  hashes: Hash[];
  read: number;
}

const jobs = new Map<number, Job | Copy>();
const pieceSize = 256 * 1024;
const piece = Buffer.allocUnsafeSlow(pieceSize);
/** The kernel reads and writes past its cache only in memory that begins with a page, as that of WebAssembly does. */
let aligned: Uint8Array | undefined;
const pageSize = 4096;
declare const WebAssembly: { Memory: new (size: { initial: number }) => { buffer: ArrayBuffer } };

function readOn(job: Job, size: number): void {
  while (job.read < size) {
    const [from, read] = job.direct ? readDirect(job) : [piece, readCached(job, size)];
    const length = Math.min(read, size - job.read);
    if (length === 0) throw new Error(`the file ends at ${job.read} bytes and should have ${size}`);
    for (const hash of job.hashes) hash.update(from.subarray(0, length));
    job.read += length;
  }
}

/** Ends where the file does, however much was asked for: what is copied is held against its digest. */
function copyOn(copy: Copy, size: number): void {
  const into = copy.rest === undefined ? piece : alignedPiece();
  while (copy.read < size) {
    const before = copy.rest?.length ?? 0;
    if (copy.rest !== undefined) into.set(copy.rest);
    const length = readSync(copy.from, into, before, Math.min(pieceSize - before, size - copy.read), copy.offset);
    if (length === 0) return;
    for (const hash of copy.hashes) hash.update(into.subarray(before, before + length));
    const whole = copy.rest === undefined ? length : wholePages(before + length);
    writeAll(copy.to, into.subarray(0, whole), copy.read - before);
    if (copy.rest !== undefined) copy.rest = new Uint8Array(into.subarray(whole, before + length));
    copy.offset += length;
    copy.read += length;
  }
}

/** Writes what is no whole page: as one, of which the end is taken off again. */
function finish({ to, rest, read }: Copy, time: Date | undefined): void {
  if (rest !== undefined && rest.length > 0) {
    const last = alignedPiece().subarray(0, pageSize).fill(0);
    last.set(rest);
    writeAll(to, last, read - rest.length);
    ftruncateSync(to, read);
  }
  if (time !== undefined) futimesSync(to, time, time);
}

/** A disk that is nearly full takes a part; asked for the rest it says why. */
function writeAll(to: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length;) at += writeSync(to, bytes, at, bytes.length - at, position + at);
}

const wholePages = (length: number): number => length - (length % pageSize);

const alignedPiece = (): Uint8Array =>
  (aligned ??= new Uint8Array(new WebAssembly.Memory({ initial: pieceSize / 65_536 }).buffer));

const readCached = (job: Job, size: number): number =>
  readSync(job.descriptor, piece, 0, Math.min(pieceSize, size - job.read), job.read);

/** Whole pieces from multiples of their size; a file system that wants it otherwise is read as always. */
function readDirect(job: Job): [Uint8Array, number] {
  const page = alignedPiece();
  try {
    return [page, readSync(job.descriptor, page, 0, pieceSize, job.read)];
  } catch (error) {
    if (codeOf(error) !== 'EINVAL') throw error;
    closeSync(job.descriptor);
    Object.assign(job, { direct: false, descriptor: openSync(job.path, constants.O_RDONLY) });
    return [piece, readCached(job, job.read + pieceSize)];
  }
}

/** Some file systems know no reading past the cache, and say so when the file is opened. */
function open(path: string, direct: boolean): Pick<Job, 'descriptor' | 'direct'> {
  try {
    const flags = constants.O_RDONLY | (direct ? constants.O_DIRECT : 0);
    return { descriptor: openSync(path, flags), direct };
  } catch (error) {
    if (!direct || codeOf(error) !== 'EINVAL') throw error;
    return { descriptor: openSync(path, constants.O_RDONLY), direct: false };
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

function forget(id: number): void {
  const job = jobs.get(id);
  if (job === undefined) return;
  jobs.delete(id);
  if ('descriptor' in job) closeSync(job.descriptor);
}

function obey(message: DigestOrder): DigestReport | undefined {
  if (message.order === 'follow') {
    const hashes = message.algorithms.map((algorithm) => createHash(algorithm));
    jobs.set(message.job, { path: message.path, ...open(message.path, message.direct), hashes, read: 0 });
    return undefined;
  }
  if (message.order === 'copy') {
    const hashes = message.algorithms.map((algorithm) => createHash(algorithm));
    const rest = message.direct ? new Uint8Array() : undefined;
    jobs.set(message.job, { to: message.to, from: -1, offset: 0, hashes, read: 0, rest });
    return undefined;
  }
  const job = jobs.get(message.job);
  // A job that failed is forgotten, and what was said to it in the meantime with it.
  if (job === undefined) return undefined;
  if (message.order === 'from') {
    Object.assign(job, { from: message.descriptor, offset: message.offset });
    return undefined;
  }
  if (message.order === 'grown') {
    if ('to' in job) copyOn(job, message.size);
    else readOn(job, message.size);
    return { job: message.job, report: 'read', size: job.read };
  }
  forget(message.job);
  if (message.order !== 'end') return undefined;
  if ('to' in job) finish(job, message.time);
  return { job: message.job, report: 'digests', size: job.read, digests: job.hashes.map((hash) => hash.digest('hex')) };
}

const port = parentPort;
if (port === null) throw new Error('cannot compute digests outside a worker thread');
/** Orders that come together are of one job, and the last answer says all that there is to say of it. */
port.on('message', (orders: readonly DigestOrder[]) => {
  let report: DigestReport | undefined;
  for (const order of orders) {
    try {
      report = obey(order) ?? report;
    } catch (error) {
      forget(order.job);
      const said = error instanceof Error ? error.message : String(error);
      const { syscall } = error as NodeJS.ErrnoException;
      report = { job: order.job, report: 'failed', message: said, code: codeOf(error), syscall };
    }
  }
  if (report !== undefined) port.postMessage(report);
});
