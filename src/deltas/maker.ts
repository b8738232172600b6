// Makes and applies deltas between two files, each in its own worker thread with limits on time and memory.
import { once } from 'node:events';

import type { StartWorker } from '#platform/embedded.ts';
import type { DeltaReport, DeltaTask } from './worker.ts';

export interface DeltaMaker {
  /** Yields a VCDIFF from the older to the newer file in pieces. The thread prepares the next piece while the caller handles one. */
  make(older: string, newer: string): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Returns the SHA3-384, in hexadecimal, of the file that the delta produces from the older one. Rejects if that file exceeds `maxBytes`
   * bytes.
   */
  rebuild(older: string, delta: string, maxBytes: number): Promise<string>;
  /** Stops running tasks; their promises reject. */
  close(): Promise<void>;
  /** Aborted by `close`. */
  closed: AbortSignal;
}

export interface DeltaMakerOptions {
  startWorker: StartWorker;
  /** Time limit per file in milliseconds. A gigabyte takes about 20 s on an idle machine. */
  timeLimitMs?: number;
  /** Maximum heap of a thread in MiB. Its table and buffers take up to 50 MB more. */
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
    // Request one piece ahead, so that the caller writes one piece while the thread makes the next.
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
        next.catch(() => undefined); // the next iteration awaits it
        yield piece;
      }
    } catch (error) {
      // Report the thread's own error instead of the abort that its end causes.
      throw error instanceof Error && error.name === 'AbortError' ? signal.reason : error;
    } finally {
      clearTimeout(late);
      await worker.terminate();
    }
  }

  return {
    make: (older, newer) => pieces({ task: 'make', older, newer }),
    async rebuild(older, delta, maxBytes) {
      let sha3_384 = '';
      for await (const piece of pieces({ task: 'rebuild', older, delta, maxBytes })) {
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
