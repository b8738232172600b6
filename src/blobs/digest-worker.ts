// The thread that computes digests. It follows files while the main thread writes them: told how far a file has grown,
// it reads the new bytes with a descriptor of its own, out of the page cache.
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
  | { job: number; report: 'digests'; digests: string[] }
  | { job: number; report: 'failed'; error: unknown };

interface Job {
  descriptor: number;
  /** All of them take each piece as it is read, so that the file is read once. */
  hashes: Hash[];
  read: number;
}

const jobs = new Map<number, Job>();
const piece = Buffer.allocUnsafeSlow(256 * 1024);

function readOn(job: Job, size: number): void {
  while (job.read < size) {
    const length = readSync(job.descriptor, piece, 0, Math.min(piece.length, size - job.read), job.read);
    if (length === 0) throw new Error(`the file ends at ${job.read} bytes and should have ${size}`);
    for (const hash of job.hashes) hash.update(piece.subarray(0, length));
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
    const hashes = message.algorithms.map((algorithm) => createHash(algorithm));
    jobs.set(message.job, { descriptor: openSync(message.path, constants.O_RDONLY), hashes, read: 0 });
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
  if (message.order !== 'end') return undefined;
  return { job: message.job, report: 'digests', digests: job.hashes.map((hash) => hash.digest('hex')) };
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
