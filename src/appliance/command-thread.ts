// Runs a command of this program in a thread of the serving process: long work does not block the event loop, and is the
// same as that of a person who types the command.
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Worker, WorkerOptions } from 'node:worker_threads';

import { startCommand } from '#platform/embedded.ts';
import { nativePath } from '#platform/native.ts';

/** Starts a command; a test passes its own to control it. */
export type StartCommand = (argv: readonly string[], options: WorkerOptions) => Worker;

export interface CommandThread {
  /** The name of the thread. */
  name: string;
  argv: readonly string[];
  /** The data directory. */
  directory: string;
  signal: AbortSignal;
  start?: StartCommand | undefined;
}

/** The memory limits of the command on the host; a thread gets the same. */
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 24 };

/** Returns the output of a command. Ends the command when the signal aborts, and waits for its end. */
export async function runCommandThread<Output>({
  name,
  argv,
  directory,
  signal,
  start = startCommand,
}: CommandThread): Promise<Output> {
  signal.throwIfAborted();
  const options = { name, execArgv: [], resourceLimits, workerData: { native: nativePath() } };
  const thread = start([...argv, '--data', directory, '--json', '--quiet'], options);
  const end = (): void => {
    thread.postMessage('end');
  };
  signal.addEventListener('abort', end);
  try {
    const exited = once(thread, 'exit') as Promise<[code: number]>;
    const [output, errorOutput, [code]] = await Promise.all([text(thread.stdout), text(thread.stderr), exited]);
    if (output !== '' && code <= 1) return JSON.parse(output) as Output;
    throw new Error((errorOutput || output).trim().slice(-1000));
  } finally {
    signal.removeEventListener('abort', end);
  }
}
