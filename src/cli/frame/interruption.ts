// Work that a signal ends in good order: what was begun is taken back before the process ends.
import { constants } from 'node:os';
import { Failure } from './command.ts';

const asked = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A signal has ended a command; the exit code is the shell's for it, 128 and the signal's number. */
class Interrupted extends Failure {
  constructor(signal: NodeJS.Signals) {
    super('interrupted; what was begun is taken back', {
      exitCode: 128 + constants.signals[signal],
      code: 'interrupted',
    });
    this.name = 'Interrupted';
  }
}

/**
 * Does work that takes back what it has begun when its signal is aborted, which Ctrl-C and the end of the machine or of
 * the terminal do; the reason is a Failure with the exit code. A second signal ends the process at once.
 */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const ended = new AbortController();
  const forget = (): void => {
    for (const signal of asked) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // Without a listener the next one does what signals do.
    forget();
    ended.abort(new Interrupted(signal));
  };
  for (const signal of asked) process.on(signal, onSignal);
  try {
    return await work(ended.signal);
  } finally {
    forget();
  }
}
