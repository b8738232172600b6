// Ends the process if its event loop is blocked for 30 s. A thread counts the loop's beats and its own, so a suspended machine and a changed
// clock do not count. systemd's own watchdog needs a datagram to a Unix socket, which Node cannot send (docs/decisions/0019-own-watchdog.md).
import type { Logger } from 'pino';

import { seconds } from '#domain/clock.ts';
import { startWorker } from './embedded.ts';

export interface WatchdogOptions {
  log: Logger;
  /** Whether the last line is text for people. */
  asText: boolean;
  /** The number of this process among the workers, if there are several. */
  worker?: number | undefined;
  /** Limits that replace the watchdog's own; for tests. */
  limits?: { beatMs: number; maxMissedBeats: number };
}

/** The data of the thread. */
export interface WatchedLoop {
  beats: Int32Array;
  asText: boolean;
  worker: number | undefined;
  beatMs: number;
  maxMissedBeats: number;
}

const usual = { beatMs: seconds(1), maxMissedBeats: 30 };

/** Watches the event loop of this thread until `stop`, unless a debugger may hold it. Does not keep the process alive. */
export function startWatchdog({ log, asText, worker, limits = usual }: WatchdogOptions): { stop(): void } | undefined {
  if (process.execArgv.some((option) => option.startsWith('--inspect'))) return undefined;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const workerData: WatchedLoop = { beats, asText, worker, ...limits };
  const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
  const thread = startWorker('src/platform/watchdog-worker.ts', {
    name: 'watchdog',
    execArgv: [],
    workerData,
    resourceLimits,
  });
  thread.on('error', (error) => {
    log.error({ err: error }, 'the watchdog of the event loop has ended');
  });
  thread.unref();
  const beat = setInterval(() => Atomics.add(beats, 0, 1), limits.beatMs).unref();
  return {
    stop() {
      clearInterval(beat);
      void thread.terminate();
    },
  };
}
