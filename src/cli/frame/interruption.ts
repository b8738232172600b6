// Runs work that a signal can interrupt: it undoes its changes before the process ends.
import { constants } from 'node:os';
import { Failure } from './command.ts';

const interruptSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A signal ended the command; the exit code is the shell's, 128 plus the number of the signal. */
class Interrupted extends Failure {
  constructor(signal: NodeJS.Signals) {
    super('interrupted; unfinished work was undone', {
      exitCode: 128 + constants.signals[signal],
      code: 'interrupted',
    });
    this.name = 'Interrupted';
  }
}

/**
 * Runs work that undoes its changes when its AbortSignal is aborted: by Ctrl-C, a shutdown of the host or a closed
 * terminal. The abort reason is a Failure with the exit code. A second signal ends the process immediately.
 */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const ended = new AbortController();
  const forget = (): void => {
    for (const signal of interruptSignals) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // Without a listener, the next signal has its default effect.
    forget();
    ended.abort(new Interrupted(signal));
  };
  for (const signal of interruptSignals) process.on(signal, onSignal);
  try {
    return await work(ended.signal);
  } finally {
    forget();
  }
}
