// The main program: runs the command in argv and ends with its exit code.
import { constants, getPriority, setPriority } from 'node:os';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import type { Actor } from '#acts/act.ts';
import type { CommandOutput } from '#cli/frame/command.ts';
import { run } from '#cli/frame/run.ts';
import { runtimeProblem } from '#cli/frame/runtime.ts';
import { groups } from '#cli/index.ts';
import { excludeMemory } from '#platform/core-dumps.ts';
import { allowSmallHeap } from '#platform/small-heap.ts';

const { argv, env, stdin, stdout, stderr, versions } = process;

/** Ends the process after all output has been written. */
function exit(code: number): void {
  stdout.write('', () => stderr.write('', () => process.exit(code)));
}

/** Lowers the priority below the serving store, but above programs for idle machines. */
const yieldToOthers = (): void => {
  const priority = constants.priority.PRIORITY_BELOW_NORMAL;
  // A lower priority set with `nice` stays; only root could raise it again.
  if (getPriority() < priority) setPriority(priority);
};

stdout.on('error', () => undefined); // the writer gets the error
stderr.on('error', () => undefined); // there is no reader left to tell; the command continues
const output: CommandOutput = {
  isTTY: stdout.isTTY,
  get columns() {
    return stdout.columns;
  },
  write: (text) =>
    new Promise<void>((resolve, reject) => {
      stdout.write(text, (error?: NodeJS.ErrnoException | null) => {
        // A reader that closes early, such as in `larder help | head`, is no failure.
        if (!error || error.code === 'EPIPE') resolve();
        else reject(error);
      });
    }),
};

// The server passes it with the threads that it starts for a person at a page; no argument or variable can set it.
const { actor } = (workerData ?? {}) as { actor?: Actor };

const problem = runtimeProblem(versions);
if (problem === undefined) {
  if (isMainThread) {
    // Files that a command writes are for the owner of the store only, unless the command says otherwise.
    process.umask(0o077);
    excludeMemory();
    allowSmallHeap();
  } else {
    // A thread gets no signals; its starter sends a message instead.
    parentPort?.once('message', () => process.emit('SIGTERM', 'SIGTERM')).unref();
  }
  void run(argv.slice(2), { stdout: output, stderr, stdin, env, actor, yieldToOthers }, groups).then(exit);
} else {
  stderr.write(`larder: ${problem}\n`);
  exit(1);
}
