// The worker thread that computes digests. It follows files while the main thread writes them: when it learns the new
// size of a file, it reads the new bytes with its own descriptor, from the page cache or, if asked, past it. It also
// copies: it reads one file, writes another one, and computes digests while the bytes are in the processor's cache.
import { createDigest, type ContentDigest, type Hash } from '#domain/cryptography.ts';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

import { alignedPiece, beginCopy, continueCopy, finishCopy, piece, pieceSize, type FileCopy } from './file-copy.ts';
import { receiveGroup, type GroupedContent, type GroupedResult, type GroupReceiveOptions } from './receive-group.ts';

/** Messages of the main thread. Messages about one job arrive in order. */
export type DigestOrder =
  | { job: number; order: 'follow'; path: string; algorithms: readonly ContentDigest[]; direct: boolean }
  | { job: number; order: 'copy'; to: number; algorithms: readonly ContentDigest[]; direct: boolean }
  | { job: number; order: 'from'; descriptor: number; offset: number }
  | { job: number; order: 'grown'; size: number }
  | { job: number; order: 'end'; time?: Date | undefined }
  | ({ job: number; order: 'take'; contents: readonly GroupedContent[] } & GroupReceiveOptions)
  | { job: number; order: 'abandon' };

/**
 * Replies of the thread: how far it has read, the digests in hexadecimal, or a failure. The code and the system call of
 * an error are separate fields, because an error loses them when it is sent between threads.
 */
export type DigestReport =
  | { job: number; report: 'read'; size: number }
  | { job: number; report: 'digests'; size: number; digests: string[] }
  | { job: number; report: 'taken'; results: GroupedResult[] }
  | { job: number; report: 'failed'; message: string; code: string | undefined; syscall: string | undefined };

interface FollowJob {
  path: string;
  descriptor: number;
  /** Whether the descriptor reads past the page cache. */
  direct: boolean;
  /** Every piece is added to all of these hashes, so that the file is read once. */
  hashes: Hash[];
  read: number;
}

const jobs = new Map<number, FollowJob | FileCopy>();

function readOn(job: FollowJob, size: number): void {
  while (job.read < size) {
    const [from, read] = job.direct ? readDirect(job) : [piece, readCached(job, size)];
    const length = Math.min(read, size - job.read);
    if (length === 0) throw new Error(`the file ends at ${job.read} bytes and should have ${size}`);
    for (const hash of job.hashes) hash.update(from.subarray(0, length));
    job.read += length;
  }
}

const readCached = (job: FollowJob, size: number): number =>
  readSync(job.descriptor, piece, 0, Math.min(pieceSize, size - job.read), job.read);

/**
 * Reads whole pieces at multiples of their size. If the file system requires something else, the file is read through
 * the page cache.
 */
function readDirect(job: FollowJob): [Uint8Array, number] {
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

/** File systems without direct I/O say so when the file is opened. */
function open(path: string, direct: boolean): Pick<FollowJob, 'descriptor' | 'direct'> {
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

function performOrder(message: Exclude<DigestOrder, { order: 'take' }>): DigestReport | undefined {
  if (message.order === 'follow') {
    const hashes = message.algorithms.map((algorithm) => createDigest(`content ${algorithm}`));
    jobs.set(message.job, { path: message.path, ...open(message.path, message.direct), hashes, read: 0 });
    return undefined;
  }
  if (message.order === 'copy') {
    jobs.set(message.job, beginCopy(message.to, message.algorithms, message.direct));
    return undefined;
  }
  const job = jobs.get(message.job);
  // A failed job is removed; messages that were already sent to it are dropped.
  if (job === undefined) return undefined;
  if (message.order === 'from') {
    Object.assign(job, { from: message.descriptor, offset: message.offset });
    return undefined;
  }
  if (message.order === 'grown') {
    if ('to' in job) continueCopy(job, message.size);
    else readOn(job, message.size);
    return { job: message.job, report: 'read', size: job.read };
  }
  forget(message.job);
  if (message.order !== 'end') return undefined;
  if ('to' in job) finishCopy(job, message.time);
  return { job: message.job, report: 'digests', size: job.read, digests: job.hashes.map((hash) => hash.digest('hex')) };
}

/** While this group is made durable, the thread reads the next one. */
function take({ job, contents, direct, time }: Extract<DigestOrder, { order: 'take' }>): void {
  void receiveGroup(contents, { direct, time }).then((results) => {
    port!.postMessage({ job, report: 'taken', results } satisfies DigestReport);
  });
}

const port = parentPort;
if (port === null) throw new Error('cannot compute digests outside a worker thread');
/** Orders that arrive together belong to one job; the last reply covers all of them. */
port.on('message', (orders: readonly DigestOrder[]) => {
  let report: DigestReport | undefined;
  for (const order of orders) {
    try {
      if (order.order === 'take') take(order);
      else report = performOrder(order) ?? report;
    } catch (error) {
      forget(order.job);
      const message = error instanceof Error ? error.message : String(error);
      const { syscall } = error as NodeJS.ErrnoException;
      report = { job: order.job, report: 'failed', message, code: codeOf(error), syscall };
    }
  }
  if (report !== undefined) port.postMessage(report);
});
