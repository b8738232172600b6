// Watches a folder for transfers: receives its files, and accepts them if that is possible automatically. A thread runs
// the command that a person would use: reading a transfer of thousands of packages and computing its plan takes
// seconds, and would block the event loop.
import { opendir } from 'node:fs/promises';

import { seconds } from '#domain/clock.ts';
import type { BackgroundJob } from '#jobs/runner.ts';
import type { FactsOf } from '#platform/faults.ts';
import { inOneSentence } from '#platform/system-errors.ts';
import type { WatchedFilesResult } from '#transfers/receive/watched-files.ts';
import { watchFolder } from '#transfers/receive/watch-folder.ts';
import { runCommandThread, type StartCommand } from '../commands/command-thread.ts';
import type { Current } from '../settings.ts';
import type { Storage } from '../storage.ts';

interface FolderWatchOptions {
  health: Pick<Storage['health'], 'watch'>;
  /** The data directory. */
  directory: string;
  /** Milliseconds between two checks, if not the default. */
  intervalMs?: number | undefined;
  /** Starts a command; a test passes its own to control it. */
  start?: StartCommand;
}

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

/** Runs `larder transfer watch` on these files. */
async function receiveFiles(
  files: readonly string[],
  { directory, start }: Omit<FolderWatchOptions, 'health' | 'intervalMs'>,
  signal: AbortSignal,
): Promise<WatchedFilesResult> {
  try {
    const argv = ['transfer', 'watch', ...files];
    return await runCommandThread<WatchedFilesResult>({ name: 'watch', argv, directory, signal, start });
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`cannot receive transfers from the watched folder: ${inOneSentence(cause)}`, { cause });
  }
}
