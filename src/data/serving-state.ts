// Tells whether a process serves a data directory, and reads the state that it reports.
import { readFileSync } from 'node:fs';

import type { ScrubState } from '#integrity/scrub.ts';
import type { JobState } from '#jobs/runner.ts';
import type { Fault } from '#platform/faults.ts';
import { DataDirectoryInUse, lockDirectory } from './lock.ts';
import { stateFile } from './state-file.ts';

/** The state of the serving process, in a file of the data directory. */
export interface ServingState {
  pid: number;
  url: string;
  version: string;
  since: string;
  level: string;
  sealed: boolean;
  certificate: { ends: Date | string; hosts: string[]; fingerprint: string } | undefined;
  /** The faults as sentences. Only commands of an older release read them; newer ones read `faults`. */
  problems: string[];
  notices?: string[];
  faults?: Fault[];
  /** The secret that a command on the host sends to the process. */
  secret?: string;
  jobs: JobState[];
  scrub: ScrubState;
  /** The configuration file that was read last. */
  configuration?: ConfigurationState;
  /** Whether the process can still do its work: its disk, its lock and its engines work. Workers send it to each other. */
  working?: boolean;
  /** Set if several processes of the host serve the store together. */
  workers?: WorkersState;
}

export interface ConfigurationState {
  sha256: string;
  /** Why the file was refused. The configuration before it stays in force. */
  problem?: string;
}

export interface WorkersState {
  wanted: number;
  serving: number;
  /** Number of workers that have ended unexpectedly since the start. */
  ended: number;
  /** The workers that serve. */
  each: { number: number; pid: number; since: string }[];
}

/** Returns how many of the configured workers serve, in words. */
export const describeWorkers = ({ serving, wanted: configured }: WorkersState): string =>
  `${String(serving)} of ${String(configured)} workers`;

/** Merges the states of several processes that serve one store. Common values come from the first. */
export function mergeServingStates(states: readonly [ServingState, ...ServingState[]]): ServingState {
  const [first] = states;
  const jobs = new Map<string, JobState>();
  for (const job of states.flatMap((state) => state.jobs)) jobs.set(job.name, jointly(jobs.get(job.name), job));
  const workers = states.find((state) => state.workers !== undefined)?.workers;
  return {
    ...first,
    certificate: states.find(({ certificate }) => certificate !== undefined)?.certificate,
    sealed: states.some(({ sealed }) => sealed),
    working: states.every(({ working }) => working !== false),
    problems: [...new Set(states.flatMap(({ problems }) => problems))],
    notices: [...new Set(states.flatMap(({ notices = [] }) => notices))],
    faults: [...new Map(states.flatMap(({ faults = [] }) => faults).map((fault) => [fault.says, fault])).values()],
    jobs: [...jobs.values()],
    scrub: states
      .map(({ scrub }) => scrub)
      .reduce((sum, scrub) => ({
        blobs: sum.blobs + scrub.blobs,
        bytes: sum.bytes + scrub.bytes,
        damaged: sum.damaged + scrub.damaged,
        roundEnded: latest(sum.roundEnded, scrub.roundEnded),
      })),
    ...(workers && { workers }),
  };
}

const jointly = (before: JobState | undefined, job: JobState): JobState =>
  before === undefined
    ? job
    : {
        ...job,
        running: before.running || job.running,
        runs: before.runs + job.runs,
        failures: before.failures + job.failures,
        lastSuccess: latest(before.lastSuccess, job.lastSuccess),
        problem: before.problem ?? job.problem,
      };

/** Returns the later of two times. Each may be missing. */
function latest<Moment extends Date | string>(time: Moment | undefined, other: Moment | undefined): Moment | undefined {
  if (time === undefined || other === undefined) return time ?? other;
  return new Date(time) > new Date(other) ? time : other;
}

/** Returns the last reported state of the serving process; undefined if no process serves the directory. */
export function servingState(data: string): ServingState | undefined {
  // Undefined while the process starts or stops, or if another program holds the lock.
  return isHeld(data) ? readStateFile(data) : undefined;
}

/** Returns whether a process holds the lock of the data directory: it serves, starts or stops. */
export function isHeld(data: string): boolean {
  try {
    lockDirectory(data).close();
    return false;
  } catch (error) {
    if (error instanceof DataDirectoryInUse) return true;
    throw error;
  }
}

/** Returns the content of the state file without a check of the lock. Its writer may have died. */
export function readStateFile(data: string): ServingState | undefined {
  try {
    return JSON.parse(readFileSync(stateFile(data), 'utf8')) as ServingState;
  } catch {
    return undefined;
  }
}
