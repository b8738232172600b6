// Runs a command of this program in a thread of the serving process: long work does not block the event loop, and is the
// same as that of a person who types the command.
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Worker, WorkerOptions } from 'node:worker_threads';

import type { Actor } from '#acts/act.ts';
import { Refusal } from '#domain/refusal.ts';
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
  /** The author of its changes; by default the user of the serving process. */
  actor?: Actor | undefined;
  start?: StartCommand | undefined;
}

/** A command failed; its last line of output is a JSON document with the error. */
export class CommandFailure extends Error {
  /** The code of the error, if the command has stated it. */
  readonly code: string | undefined;
  /** The sentence for a person. */
  readonly sentence: string;

  constructor(output: string) {
    const text = output.trim();
    super(text.slice(-1000));
    this.name = 'CommandFailure';
    const stated = parseStatedError(text.slice(text.lastIndexOf('\n') + 1));
    this.code = stated?.code;
    this.sentence = stated?.error ?? this.message;
  }
}

function parseStatedError(line: string): { error: string; code: string } | undefined {
  try {
    return JSON.parse(line) as { error: string; code: string };
  } catch {
    return undefined;
  }
}

/** The memory limits of the command on the host; a thread gets the same. */
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 24 };

/** The reason to abort commands of pages when the server stops. */
export const newStopReason = (): Refusal =>
  new Refusal('shutting-down', 'The store is restarting. Try again in a few seconds.', 5);

/** Returns the output of a command. Ends the command when the signal aborts, and waits for its end. */
export async function runCommandThread<Output>({
  name,
  argv,
  directory,
  signal,
  actor,
  start = startCommand,
}: CommandThread): Promise<Output> {
  signal.throwIfAborted();
  const options = { name, execArgv: [], resourceLimits, workerData: { native: nativePath(), actor } };
  const thread = start([...argv, '--data', directory, '--json', '--quiet'], options);
  const end = (): void => {
    thread.postMessage('end');
  };
  signal.addEventListener('abort', end);
  try {
    const exited = once(thread, 'exit') as Promise<[code: number]>;
    const [output, errorOutput, [code]] = await Promise.all([text(thread.stdout), text(thread.stderr), exited]);
    if (output !== '' && code <= 1) return JSON.parse(output) as Output;
    throw new CommandFailure(errorOutput || output);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
