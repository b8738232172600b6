// Runs the commands of transfers for people at pages, in threads: reading a transfer or computing a request takes long, and would block
// the event loop.
import { randomUUID } from '#domain/cryptography.ts';
import { statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import type { Actor } from '#acts/act.ts';
import { hours, type Now } from '#domain/clock.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import { Refusal, statuses, withCause, type RefusalCode } from '#domain/refusal.ts';
import { makeFolder } from '#files/durable.ts';
import { listNames } from '#files/read.ts';
import type { ReceivedTransferPart, TransferCommands } from '#http/transfer-desk.ts';
import { scriptDigest } from '#transfers/request/fetch-table.ts';
import type { SiteRequestContent } from '#transfers/request/request-content.ts';
import { toRequestReport } from '#transfers/request/request-report.ts';
import { CommandFailure, newStopReason, runCommandThread } from './command-thread.ts';

/** A thread has the memory of a command, so commands run one after the other. */
const concurrency = 1;

interface CommandsOfPages extends TransferCommands {
  /** Ends running commands, and waits for their end. Received contents stay. */
  close(): Promise<void>;
}

export function createTransferCommands({ directory, now }: { directory: string; now: Now }): CommandsOfPages {
  const ending = new AbortController();
  const inTurn = createConcurrencyLimit({ concurrency });
  const running = new Map<string, Promise<unknown>>();
  const runOnce = async <Output>(argv: readonly string[], actor: Actor): Promise<Output> =>
    inTurn(async () => {
      try {
        return await runCommandThread<Output>({
          name: 'transfer',
          argv: ['transfer', ...argv],
          directory,
          actor,
          signal: ending.signal,
        });
      } catch (error) {
        throw toRefusal(error, ending.signal);
      }
    });
  /** Two browser tabs can ask for the same: the second gets the result of the first. */
  const runShared = async <Output>(argv: readonly string[], actor: Actor): Promise<Output> => {
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
  };
  return {
    receiveUploads: (uploads, actor) =>
      runShared<ReceivedTransferPart>(['receive', ...uploads.flatMap((id) => ['--upload', id])], actor),
    async previewRequest(actor) {
      const { request } = await runShared<{ request: SiteRequestContent }>(['request', '.', '--dry-run'], actor);
      return toRequestReport(request, scriptDigest());
    },
    makeRequest: (actor) =>
      withRequestFolder({ directory, now }, async (folder) => {
        const { file } = await runOnce<{ file: string }>(['request', folder, '--yes'], actor);
        return { name: basename(file), bytes: await readFile(file) };
      }),
    async close() {
      ending.abort(newStopReason());
      await Promise.allSettled(running.values());
      await inTurn(() => Promise.resolve());
    },
  };
}

/** Gives a folder for the file of a request, and removes it afterwards. */
async function withRequestFolder<Result>(
  { directory, now }: { directory: string; now: Now },
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const all = join(directory, 'transfers', 'requests');
  // A killed process may have left its folder.
  for (const name of listNames(all)) await removeOld(join(all, name), now);
  const folder = join(all, randomUUID());
  makeFolder(folder);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes a folder that is older than an hour. Another process of the store may use a newer one. */
async function removeOld(folder: string, now: Now): Promise<void> {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats !== undefined && now().getTime() - stats.mtimeMs > hours(1))
    await rm(folder, { recursive: true, force: true });
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
