// Lists the processes of a run in its folder, and removes the folders, servers and mounts of runs that were killed.
import { appendFileSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isOnThisHost, isRunning, processName } from '#shared/processes.ts';
import { unmountDisk } from './faults.ts';

/** The start of the default name of a folder. */
export const folderPrefix = 'larder-proof';

/** One line for the run itself, then one for each server; removed at the end of the trials. */
const listName = 'processes';

/** Records a process of the run in `folder`. */
export function recordProcess(folder: string, pid: number): void {
  appendFileSync(join(folder, listName), `${processName(pid)}\n`);
}

export function forgetProcesses(folder: string): void {
  rmSync(join(folder, listName));
}

/** Removes the folders that killed runs of this user have left beside `folder` or at `folder` itself. */
export function removeLeftovers(folder: string): void {
  const parent = dirname(folder);
  const names = existsSync(parent) ? readdirSync(parent) : [];
  for (const name of names.filter((name) => name.startsWith(folderPrefix) || name === basename(folder))) {
    const left = join(parent, name);
    const processes = readProcesses(left);
    if (processes !== undefined && hasEnded(processes[0])) removeRun(left, processes);
  }
}

/** The processes of an unfinished run of this user; undefined if the folder is none. */
function readProcesses(folder: string): string[] | undefined {
  try {
    const stats = lstatSync(folder);
    if (!stats.isDirectory() || stats.uid !== process.geteuid?.()) return undefined;
    const names = readFileSync(join(folder, listName), 'utf8').trimEnd().split('\n');
    return names.every((name) => /^\d+\.\d+@/.test(name)) ? names : undefined;
  } catch {
    return undefined;
  }
}

const hasEnded = (name = ''): boolean => isOnThisHost(name) && !isRunning(name);

function removeRun(folder: string, processes: readonly string[]): void {
  for (const name of processes.filter(isRunning)) process.kill(Number.parseInt(name, 10), 'SIGKILL');
  for (const round of readdirSync(folder)) unmountDisk(join(folder, round));
  rmSync(folder, { recursive: true, force: true });
}
