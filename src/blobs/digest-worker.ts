// The thread that computes digests. It follows a file while the main thread writes it: told how far the file has grown,
// it reads the new bytes with a descriptor of its own, out of the page cache, and feeds each piece to every algorithm.
import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

/** What the main thread says. Messages about one job come in the order they were sent. */
export type DigestOrder =
  | { job: number; order: 'follow'; path: string; algorithms: readonly string[] }
  | { job: number; order: 'grown'; size: number }
  | { job: number; order: 'end' }
  | { job: number; order: 'abandon' };

/** What the thread answers: how far it has read, the digests in hexadecimal, or why there are none. */
export type DigestReport =
  | { job: number; report: 'read'; size: number }
  | { job: number; report: 'digests'; digests: Record<string, string> }
  | { job: number; report: 'failed'; error: unknown };

interface Job {
  descriptor: number;
  hashes: Map<string, Hash>;
  read: number;
}

const jobs = new Map<number, Job>();
/** Small enough to stay in the processor's cache while one algorithm after the other reads it. */
const piece = Buffer.allocUnsafeSlow(256 * 1024);

function follow(path: string, algorithms: readonly string[]): Job {
  const hashes = new Map(algorithms.map((algorithm) => [algorithm, createHash(algorithm)]));
  return { descriptor: openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW), hashes, read: 0 };
}

function readOn(job: Job, size: number): void {
  while (job.read < size) {
    const length = readSync(job.descriptor, piece, 0, Math.min(piece.length, size - job.read), job.read);
    if (length === 0) throw new Error(`the file ends at ${job.read} bytes and should have ${size}`);
    const bytes = piece.subarray(0, length);
    for (const hash of job.hashes.values()) hash.update(bytes);
    job.read += length;
  }
}

function forget(id: number): void {
  const job = jobs.get(id);
  if (job === undefined) return;
  jobs.delete(id);
  closeSync(job.descriptor);
}

function obey(message: DigestOrder): DigestReport | undefined {
  if (message.order === 'follow') {
    jobs.set(message.job, follow(message.path, message.algorithms));
    return undefined;
  }
  const job = jobs.get(message.job);
  // A job that failed is forgotten, and what was said to it in the meantime with it.
  if (job === undefined) return undefined;
  if (message.order === 'grown') {
    readOn(job, message.size);
    return { job: message.job, report: 'read', size: job.read };
  }
  forget(message.job);
  if (message.order === 'abandon') return undefined;
  const digests = [...job.hashes].map(([algorithm, hash]) => [algorithm, hash.digest('hex')] as const);
  return { job: message.job, report: 'digests', digests: Object.fromEntries(digests) };
}

const port = parentPort;
if (port === null) throw new Error('cannot compute digests outside a worker thread');
port.on('message', (message: DigestOrder) => {
  let report: DigestReport | undefined;
  try {
    report = obey(message);
  } catch (error) {
    forget(message.job);
    report = { job: message.job, report: 'failed', error };
  }
  if (report !== undefined) port.postMessage(report);
});
