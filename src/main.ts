// Argv in, exit code out.
import { constants, getPriority, setPriority } from 'node:os';
import { isMainThread, parentPort } from 'node:worker_threads';
import type { Output } from '#cli/frame/command.ts';
import { run } from '#cli/frame/run.ts';
import { runtimeProblem } from '#cli/frame/runtime.ts';
import { groups } from '#cli/index.ts';
import { leaveMemoryOut } from './core-dumps.ts';

const { argv, env, stdin, stdout, stderr, versions } = process;

/** Ends the process once everything that was written has gone out. */
function exit(code: number): void {
  stdout.write('', () => stderr.write('', () => process.exit(code)));
}

/** Below the serving store, and still above what runs only on an idle machine. */
const yieldToOthers = (): void => {
  const wanted = constants.priority.PRIORITY_BELOW_NORMAL;
  // Whoever has started it with `nice` wants it lower still, and only root could take that back.
  if (getPriority() < wanted) setPriority(wanted);
};

stdout.on('error', () => undefined); // whoever writes is told
stderr.on('error', () => undefined); // nobody is left to tell; what was asked for is done all the same
const output: Output = {
  isTTY: stdout.isTTY,
  get columns() {
    return stdout.columns;
  },
  write: (text) =>
    new Promise<void>((resolve, reject) => {
      stdout.write(text, (error?: NodeJS.ErrnoException | null) => {
        // A reader that has read enough, as in `larder help | head`, is no failure.
        if (!error || error.code === 'EPIPE') resolve();
        else reject(error);
      });
    }),
};

const problem = runtimeProblem(versions);
if (problem === undefined) {
  if (isMainThread) {
    // Whatever a command writes is for the owner of the store alone, unless it says otherwise.
    process.umask(0o077);
    leaveMemoryOut();
  } else {
    // A thread gets no signals; whoever has started the command there says so.
    parentPort?.once('message', () => process.emit('SIGTERM', 'SIGTERM')).unref();
  }
  void run(argv.slice(2), { stdout: output, stderr, stdin, env, yieldToOthers }, groups).then(exit);
} else {
  stderr.write(`larder: ${problem}\n`);
  exit(1);
}
