// The interface of the backups and drills that people begin at pages. The appliance implements it and passes it in.
import type { Actor } from '#acts/act.ts';

export type BackupTask = 'backup' | 'drill';

/** `unchanged`: nothing has changed since the last backup, so none was made. `lacking`: the backup lacks content. */
export type BackupTaskResult = 'done' | 'unchanged' | 'lacking' | 'running';

export interface BackupDesk {
  /** Whether a task that a person began runs in a process of the store. */
  isRunning(): Promise<boolean>;
  /**
   * Begins a task in the folder or bucket of [backup]. Returns its result, or `running` after a few seconds; the task then continues.
   * Refuses if no place is set, if a task runs, or if the task fails.
   */
  begin(task: BackupTask, actor: Actor): Promise<BackupTaskResult>;
}
