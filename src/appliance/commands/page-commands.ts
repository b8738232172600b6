// Runs commands for people at pages, in threads: work that takes long would block the event loop.
import type { Actor } from '#acts/act.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import { Refusal, statuses, withCause, type RefusalCode } from '#domain/refusal.ts';
import { CommandFailure, newStopReason, runCommandThread } from './command-thread.ts';

/** A thread has the memory of a command, so commands run one after the other. */
const concurrency = 1;

export interface PageCommands {
  /** Runs a command, and returns its output. */
  runOnce<Output>(argv: readonly string[], actor: Actor): Promise<Output>;
  /** Two browser tabs can ask for the same: the second gets the result of the first. */
  runShared<Output>(argv: readonly string[], actor: Actor): Promise<Output>;
  /** Ends running commands, and waits for their end. Received contents stay. */
  close(): Promise<void>;
}

export function createPageCommands({ directory }: { directory: string }): PageCommands {
  const ending = new AbortController();
  const inTurn = createConcurrencyLimit({ concurrency });
  const running = new Map<string, Promise<unknown>>();
  const runOnce = async <Output>(argv: readonly string[], actor: Actor): Promise<Output> =>
    inTurn(async () => {
      try {
        const [name = ''] = argv;
        return await runCommandThread<Output>({ name, argv, directory, actor, signal: ending.signal });
      } catch (error) {
        throw toRefusal(error, ending.signal);
      }
    });
  return {
    runOnce,
    async runShared<Output>(argv: readonly string[], actor: Actor): Promise<Output> {
      const key = JSON.stringify([argv, actor.actor]);
      const before = running.get(key);
      if (before !== undefined) return before as Promise<Output>;
      const run = runOnce<Output>(argv, actor);
      running.set(key, run);
      try {
        return await run;
      } finally {
        running.delete(key);
      }
    },
    async close() {
      ending.abort(newStopReason());
      await Promise.allSettled(running.values());
      await inTurn(() => Promise.resolve());
    },
  };
}

/** The refusal of a command; any other error is a fault of the store. */
function toRefusal(error: unknown, { aborted, reason }: AbortSignal): unknown {
  if (aborted) return reason;
  if (!(error instanceof CommandFailure)) return error;
  const { code, sentence } = error;
  if (code === 'no-transfer') return withCause(error, new Refusal('api-error', sentence));
  return code !== undefined && Object.hasOwn(statuses, code)
    ? withCause(error, new Refusal(code as RefusalCode, sentence))
    : error;
}
