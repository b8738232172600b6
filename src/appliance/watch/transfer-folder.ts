// Watches a folder for transfers: receives its files, and accepts them if that is possible automatically. A thread runs
// the command that a person would use: reading a transfer of thousands of packages and computing its plan takes
// seconds, and would block the event loop.
import { once } from 'node:events';
import { opendir } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Worker, WorkerOptions } from 'node:worker_threads';

import { seconds } from '#domain/clock.ts';
import type { BackgroundJob } from '#jobs/runner.ts';
import { startCommand } from '#platform/embedded.ts';
import type { FactsOf } from '#platform/faults.ts';
import { nativePath } from '#platform/native.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import type { WatchedFilesResult } from '#transfers/receive/watched-files.ts';
import { watchFolder } from '#transfers/receive/watch-folder.ts';
import type { Current } from '../settings.ts';
import type { Storage } from '../storage.ts';

interface FolderWatchOptions {
  health: Pick<Storage['health'], 'watch'>;
  /** The data directory. */
  directory: string;
  /** Milliseconds between two checks, if not the default. */
  intervalMs?: number | undefined;
  /** Starts a command; a test passes its own to control it. */
  start?: (argv: readonly string[], options: WorkerOptions) => Worker;
}

/** The memory limits of the command on the host; a thread gets the same. */
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 24 };

export function watchFolderJob(
  { health, intervalMs = seconds(30), ...watched }: FolderWatchOptions,
  current: Current,
  signal: AbortSignal,
): BackgroundJob {
  let problem: string | undefined;
  health.watch('watched-folder-gone', () => findFolderProblem(current().config.transfers.watch));
  health.watch('watched-folder', () => (problem === undefined ? undefined : { because: problem }));
  const look = watchFolder({
    folder: () => current().config.transfers.watch,
    take: (files) => receiveFiles(files, watched, signal),
    report: (message) => {
      problem = message;
    },
  });
  return {
    name: 'watch-transfers',
    every: intervalMs,
    inDoubt: 'waits',
    async run() {
      // An unreadable folder is a fault of its own.
      if ((await findFolderProblem(current().config.transfers.watch)) !== undefined) return {};
      try {
        return await look();
      } catch (error) {
        // An aborted run continues after the next start.
        if (signal.aborted) return {};
        throw error;
      }
    },
  };
}

/** Why a folder cannot be read; undefined if it can. */
async function findFolderProblem(folder: string | undefined): Promise<FactsOf<'watched-folder-gone'> | undefined> {
  if (folder === undefined) return undefined;
  try {
    await (await opendir(folder)).close();
    return undefined;
  } catch (error) {
    return { folder, because: inOneSentence(error) };
  }
}

/** Runs `larder transfer watch` on these files; ends the command when the signal aborts, and waits for its end. */
async function receiveFiles(
  files: readonly string[],
  { directory, start = startCommand }: Omit<FolderWatchOptions, 'health' | 'intervalMs'>,
  signal: AbortSignal,
): Promise<WatchedFilesResult> {
  signal.throwIfAborted();
  const argv = ['transfer', 'watch', ...files, '--data', directory, '--json', '--quiet'];
  const thread = start(argv, { name: 'watch', execArgv: [], resourceLimits, workerData: { native: nativePath() } });
  const end = (): void => {
    thread.postMessage('end');
  };
  signal.addEventListener('abort', end);
  try {
    const exited = once(thread, 'exit') as Promise<[code: number]>;
    const [output, errorOutput, [code]] = await Promise.all([text(thread.stdout), text(thread.stderr), exited]);
    if (output !== '' && code <= 1) return JSON.parse(output) as WatchedFilesResult;
    throw new Error(`cannot receive transfers from the watched folder: ${(errorOutput || output).trim().slice(-1000)}`);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
