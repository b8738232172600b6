// Runs backups and drills for people at pages, with the commands that the timer and the host use.
import type { Logger } from 'pino';

import { timestamp, type Now } from '#domain/clock.ts';
import { Refusal, withCause } from '#domain/refusal.ts';
import type { BackupDesk, BackupTask, BackupTaskResult } from '#http/backup-desk.ts';
import type { StoreRecords } from '#records/index.ts';
import type { Leases } from '#shared/leases.ts';
import { CommandFailure, newStopReason, runCommandThread } from './command-thread.ts';
import { withinWait } from './within-wait.ts';

interface BackupCommandOptions {
  records: Pick<StoreRecords, 'leases'>;
  directory: string;
  now: Now;
  /** Lets one process of the store run a task, and tells the others that it runs. */
  leases: Leases;
  log: Logger;
  /** The folder, or the address of the bucket; undefined if none is set. */
  place: () => string | undefined;
}

export interface BackupCommands extends BackupDesk {
  /** Ends a running task and waits for its end. */
  close(): Promise<void>;
}

/** The part of the output of both commands that decides about the result. */
interface TaskOutput {
  unchanged?: true;
  lacking?: readonly unknown[];
}

const leaseName = 'backup of a page';

const argvOf: Readonly<Record<BackupTask, (place: string) => readonly string[]>> = {
  backup: (place) => ['backup', place, '--increment'],
  drill: (place) => ['backup', 'drill', place],
};

export function createBackupCommands(options: BackupCommandOptions): BackupCommands {
  const { records, directory, now, leases, log, place } = options;
  const ending = new AbortController();
  const running = new Set<Promise<unknown>>();
  const run = async (task: BackupTask, argv: readonly string[], actor: Parameters<BackupDesk['begin']>[1]) => {
    const thread = { name: task, argv, directory, actor, signal: ending.signal };
    const ran = await leases
      .withLease(leaseName, () => runCommandThread<TaskOutput>(thread))
      .catch((error: unknown) => {
        // The command has recorded the failure in the audit log, which the page shows.
        if (!ending.signal.aborted) log.warn({ err: error, task }, 'a task of the page of backups failed');
        throw toRefusal(error, ending.signal);
      });
    if (ran === undefined)
      throw new Refusal('conflict', 'A backup or a drill is running. Wait until it has ended, then try again.');
    return resultOf(ran.result);
  };
  return {
    async isRunning() {
      const lease = await records.leases.find(leaseName);
      return lease !== undefined && lease.endsAt > timestamp(now());
    },
    async begin(task, actor) {
      const target = place();
      if (target === undefined)
        throw new Refusal(
          'conflict',
          "No place for backups is set. Set one with 'larder config set backup.folder FOLDER' on the host.",
        );
      const whole = run(task, argvOf[task](target), actor);
      running.add(whole);
      whole.catch(() => undefined).finally(() => running.delete(whole));
      return (await withinWait(whole)) ?? 'running';
    },
    async close() {
      ending.abort(newStopReason());
      await Promise.allSettled(running);
    },
  };
}

const resultOf = ({ unchanged, lacking = [] }: TaskOutput): BackupTaskResult => {
  if (unchanged === true) return 'unchanged';
  return lacking.length > 0 ? 'lacking' : 'done';
};

/** The refusal of a command that states its problem; any other error is a fault of the store. */
function toRefusal(error: unknown, { aborted, reason }: AbortSignal): unknown {
  if (aborted) return reason;
  if (!(error instanceof CommandFailure) || error.code === undefined) return error;
  return withCause(error, new Refusal('conflict', error.sentence));
}
