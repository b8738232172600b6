// Runs jobs at their intervals, one run of a job at a time.
import type { Logger } from 'pino';

import { minutes, seconds } from '#domain/clock.ts';
import { isEngineUnavailable } from '#domain/refusal.ts';
import type { Leases } from '#shared/leases.ts';
import { hostName } from '#shared/processes.ts';
import { inOneSentence } from '#platform/system-errors.ts';

export interface BackgroundJob {
  name: string;
  /** Milliseconds from the end of one run to the start of the next. */
  every: number;
  /** Whether the job runs while the clock is in doubt. Jobs that remove or expire rows by time wait. */
  inDoubt: 'runs' | 'waits';
  /** Run in each process, or in one process per host (for work on the disk). Default: in one process of the store. */
  oncePer?: 'host' | 'process';
  /** Runs the job. The result is logged unless it is empty. */
  run(): Promise<Record<string, unknown>>;
}

/** Statistics of a job since the start. */
export interface JobState {
  name: string;
  every: number;
  running: boolean;
  runs: number;
  failures: number;
  lastSuccess: Date | undefined;
  /** Error of the last run, if it failed. */
  problem: string | undefined;
}

export interface Runner {
  state(): JobState[];
  /** Starts no further runs and waits up to 30 s for the current ones. Unfinished work continues after the next start. */
  stop(): Promise<void>;
}

export interface RunnerOptions {
  log: Logger;
  /** Milliseconds from the start to the first runs. */
  firstAfter: number;
  /** Whether the clock is in doubt. */
  isClockInDoubt: () => boolean;
  /** Ensures that only one process of the store runs a job. */
  leases: Leases;
}

/** Delay before a job that waits for the clock checks it again. */
const clockRecheckMs = minutes(1);

/**
 * Delay before a retry after a failed run. Without a database, a process may still hold a lease for that long that it could not release.
 * Each further failure doubles the delay, up to the interval: a shortage is over soon, and a disk that fails is not read all the time.
 */
const firstRetryMs = seconds(5);

/** Maximum wait for current runs at a stop. With a database that takes seconds per answer, some runs would take hours. */
const stopTimeoutMs = seconds(30);

/**
 * Runs each job soon after the start and then at its interval. A failed run is logged and retried within seconds, and then more and more
 * rarely. If a service was unavailable, it is retried within seconds each time and logged only once.
 */
export function runJobs(jobs: BackgroundJob[], { log, firstAfter, isClockInDoubt, leases }: RunnerOptions): Runner {
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const states = new Map(jobs.map((job) => [job.name, notYetRun(job)]));
  const nextRetries = new Map<string, number>();
  let stopped = false;
  let isOver = false;

  const schedule = (job: BackgroundJob, delay: number): void => {
    if (stopped) return;
    const timer = setTimeout(() => {
      if (job.inDoubt === 'waits' && isClockInDoubt()) {
        schedule(job, Math.min(job.every, clockRecheckMs));
        return;
      }
      const run = once(job).then((delay) => {
        running.delete(run);
        schedule(job, Math.min(job.every, delay));
      });
      running.add(run);
    }, delay);
    timers.set(job.name, timer.unref());
  };

  /** Runs the job once. Returns the milliseconds until the next run. */
  async function once(job: BackgroundJob): Promise<number> {
    const state = states.get(job.name)!;
    state.running = true;
    state.runs++;
    try {
      const lease = job.oncePer === 'host' ? `job ${job.name} of ${hostName()}` : `job ${job.name}`;
      const run = job.oncePer === 'process' ? { result: await job.run() } : await leases.withLease(lease, job.run);
      if (run === undefined && state.problem !== undefined) return firstRetryMs;
      // If another process holds the lease, it is running the job.
      const done = run?.result ?? {};
      state.lastSuccess = new Date();
      state.problem = undefined;
      nextRetries.delete(job.name);
      if (Object.values(done).some((count) => count !== 0)) log.info({ job: job.name, ...done }, 'job done');
      return job.every;
    } catch (error) {
      state.failures++;
      const isSaid = isEngineUnavailable(error) && state.problem !== undefined;
      state.problem = inOneSentence(error);
      // If a stop did not wait for this run, the run fails because its resources are closed.
      log[isSaid || isOver ? 'debug' : 'error']({ job: job.name, err: error }, 'job failed');
      return isEngineUnavailable(error) ? firstRetryMs : takeRetryDelay(nextRetries, job.name);
    } finally {
      state.running = false;
    }
  }

  for (const job of jobs) schedule(job, firstAfter);
  return {
    state: () => [...states.values()].map((state) => ({ ...state })),
    async stop() {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      isOver = !(await haveEnded(running));
      const jobs = [...states.values()].filter((state) => state.running).map(({ name }) => name);
      if (isOver) log.warn({ jobs }, 'stopped without waiting for long jobs; they start again after the next start');
    },
  };
}

/** Returns the delay before the next retry of a job, and doubles it for the following retry. The schedule limits it to the interval. */
function takeRetryDelay(nextRetries: Map<string, number>, name: string): number {
  const delay = nextRetries.get(name) ?? firstRetryMs;
  nextRetries.set(name, 2 * delay);
  return delay;
}

const notYetRun = ({ name, every }: BackgroundJob): JobState => ({
  name,
  every,
  running: false,
  runs: 0,
  failures: 0,
  lastSuccess: undefined,
  problem: undefined,
});

/** Returns whether the runs end within the time limit of a stop. */
async function haveEnded(runs: Iterable<Promise<void>>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const waiting = setTimeout(() => late.resolve(false), stopTimeoutMs);
  const inTime = await Promise.race([Promise.all(runs).then(() => true), late.promise]);
  clearTimeout(waiting);
  return inTime;
}
