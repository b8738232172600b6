// Makes deltas between two files, and files of deltas, each in a thread of its own with bounds on its time and memory.
import { once } from 'node:events';

import type { StartWorker } from '#src/embedded.ts';
import type { DeltaReport, DeltaTask } from './worker.ts';

export interface DeltaMaker {
  /** The pieces of a VCDIFF that makes the newer file of the older one; the thread makes the next while one is taken. */
  make(older: string, newer: string): AsyncGenerator<Uint8Array, void, undefined>;
  /** The SHA3-384, in hexadecimal, of what a delta makes of the older file; rejects when that is more than `most` bytes. */
  rebuild(older: string, delta: string, most: number): Promise<string>;
  /** Ends what is under way, which rejects. */
  close(): Promise<void>;
  /** Aborted by `close`. */
  closed: AbortSignal;
}

export interface DeltaMakerOptions {
  startWorker: StartWorker;
  /** How long one file may take: a gigabyte takes some 20 s on an idle machine. */
  timeLimitMs?: number;
  /** How much memory a thread may have for its objects; its table and buffers are 50 MB beside it at most. */
  heapMb?: number;
}

export function createDeltaMaker({ startWorker, timeLimitMs = 3_600_000, heapMb = 64 }: DeltaMakerOptions): DeltaMaker {
  const closing = new AbortController();

  async function* pieces(task: DeltaTask): AsyncGenerator<Uint8Array, void, undefined> {
    closing.signal.throwIfAborted();
    const worker = startWorker({
      workerData: task,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    const ended = new AbortController();
    worker.once('exit', (code) => {
      ended.abort(new Error(`the thread that works on a delta ended with ${String(code)}`));
    });
    const late = setTimeout(() => {
      ended.abort(new Error(`a delta took more than ${String(timeLimitMs / 1000)} seconds`));
    }, timeLimitMs).unref();
    const signal = AbortSignal.any([closing.signal, ended.signal]);
    // One ahead: what is made is written while the next is made.
    const ask = async (): Promise<DeltaReport> => {
      worker.postMessage('next');
      const [report] = (await once(worker, 'message', { signal })) as [DeltaReport];
      return report;
    };
    try {
      for (let next = ask(); ;) {
        const { piece, isLast } = await next;
        if (isLast) return;
        next = ask();
        next.catch(() => undefined); // it is awaited when this one is taken
        yield piece;
      }
    } catch (error) {
      // What went wrong in the thread is why it has ended, though its end may be known before this is read.
      throw error instanceof Error && error.name === 'AbortError' ? signal.reason : error;
    } finally {
      clearTimeout(late);
      await worker.terminate();
    }
  }

  return {
    make: (older, newer) => pieces({ task: 'make', older, newer }),
    async rebuild(older, delta, most) {
      let sha3_384 = '';
      for await (const piece of pieces({ task: 'rebuild', older, delta, most })) {
        sha3_384 = Buffer.from(piece).toString('hex');
      }
      return sha3_384;
    },
    closed: closing.signal,
    close() {
      closing.abort(new Error('the making of deltas was ended'));
      return Promise.resolve();
    },
  };
}
