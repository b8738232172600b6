// Whether a process serves a data directory, and what it says of itself.
import { readFileSync } from 'node:fs';

import type { ScrubState } from '#integrity/scrub.ts';
import type { JobState } from '#jobs/runner.ts';
import type { Fault } from '#src/faults.ts';
import { DataDirectoryInUse, lockDirectory } from './lock.ts';
import { stateFile } from './state-file.ts';

/** What the serving process says of itself, in a file of the data directory. */
export interface ServingState {
  pid: number;
  url: string;
  version: string;
  since: string;
  level: string;
  sealed: boolean;
  certificate: { ends: Date | string; hosts: string[]; fingerprint: string } | undefined;
  /** In words, for readers of an older release. */
  problems: string[];
  notices?: string[];
  faults?: Fault[];
  /** What a command on the host shows to the process that it asks. */
  secret?: string;
  jobs: JobState[];
  scrub: ScrubState;
  /** The configuration file that it read last. */
  configuration?: ConfigurationState;
  /** Whether it can still do its work; said among workers. */
  working?: boolean;
  /** Where several processes of the host serve the store together. */
  workers?: WorkersState;
}

export interface ConfigurationState {
  sha256: string;
  /** Why it was refused; the configuration before it stays in force. */
  problem?: string;
}

export interface WorkersState {
  wanted: number;
  serving: number;
  /** How many have ended since the start without having been asked to. */
  ended: number;
  /** Those that serve. */
  each: { number: number; pid: number; since: string }[];
}

/** How many of those that are wanted serve. */
export const workersSay = ({ serving, wanted }: WorkersState): string =>
  `${String(serving)} of ${String(wanted)} workers`;

/** What several processes say that serve one store, as if they were one: the first says what they have in common. */
export function together(states: readonly [ServingState, ...ServingState[]]): ServingState {
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

/** Of two moments, or of their texts, each of which may be missing. */
function latest<Moment extends Date | string>(one: Moment | undefined, other: Moment | undefined): Moment | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return new Date(one) > new Date(other) ? one : other;
}

/** What the serving process said last; nothing when the directory is not being served. */
export function servingState(data: string): ServingState | undefined {
  // Nothing where it begins or ends at this moment, or something else holds the directory.
  return isHeld(data) ? saidState(data) : undefined;
}

/** Whether a process holds the data directory, because it serves the store, begins or ends. */
export function isHeld(data: string): boolean {
  try {
    lockDirectory(data).close();
    return false;
  } catch (error) {
    if (error instanceof DataDirectoryInUse) return true;
    throw error;
  }
}

/** What stands in the file, whoever holds the directory: whoever said it may have died since. */
export function saidState(data: string): ServingState | undefined {
  try {
    return JSON.parse(readFileSync(stateFile(data), 'utf8')) as ServingState;
  } catch {
    return undefined;
  }
}
