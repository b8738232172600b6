// Work that comes round again: each job at its interval, one run of it at a time.
import type { Logger } from 'pino';

import { minutes, seconds } from '#domain/clock.ts';
import { isAway } from '#domain/refusal.ts';
import type { Leases } from '#shared/leases.ts';
import { hostName } from '#shared/processes.ts';
import { inOneSentence } from '#src/system-errors.ts';

export interface Job {
  name: string;
  /** Milliseconds from the end of one run to the beginning of the next. */
  every: number;
  /** Whether it may run while the clock is in doubt. What forgets, expires or removes by the time waits. */
  inDoubt: 'runs' | 'waits';
  /** Whether each process runs it for itself, or one of each host, as where it is about the disk; otherwise one does it for all. */
  oncePer?: 'host' | 'process';
  /** Does what is due; what it returns is logged when it is not empty. */
  run(): Promise<Record<string, unknown>>;
}

/** How a job has gone since the start. */
export interface JobState {
  name: string;
  every: number;
  running: boolean;
  runs: number;
  failures: number;
  lastSuccess: Date | undefined;
  /** Of the last run, when it failed. */
  problem: string | undefined;
}

export interface Runner {
  state(): JobState[];
  /** Begins no other run, and lets those under way finish: for half a minute, what is left is done after the next start. */
  stop(): Promise<void>;
}

export interface RunnerOptions {
  log: Logger;
  /** Milliseconds from the start to the first runs. */
  firstAfter: number;
  /** Whether nobody knows what time it is. */
  isClockInDoubt: () => boolean;
  /** By which one process of the store at a time runs a job. */
  leases: Leases;
}

/** A job that had to wait for the clock looks again so soon. */
const lookAgain = minutes(1);

/** So is one that an engine on another machine was in the way of: what others hold of it may be what it could not give back then. */
const engineLooksAgain = seconds(5);

/** A stop waits so long for the runs under way; where each answer of an engine takes seconds, some of them would take hours. */
const stopWaits = seconds(30);

/**
 * Runs each job soon after the start, and then at its interval. A failure is logged and tried again next time; where something that
 * it needs was away, soon, and that is said once.
 */
export function runJobs(jobs: Job[], { log, firstAfter, isClockInDoubt, leases }: RunnerOptions): Runner {
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const states = new Map(jobs.map((job) => [job.name, notYetRun(job)]));
  let stopped = false;
  let isOver = false;

  const schedule = (job: Job, delay: number): void => {
    if (stopped) return;
    const timer = setTimeout(() => {
      if (job.inDoubt === 'waits' && isClockInDoubt()) {
        schedule(job, Math.min(job.every, lookAgain));
        return;
      }
      const run = once(job).then((delay) => {
        running.delete(run);
        schedule(job, Math.min(job.every, delay));
      });
      running.add(run);
    }, delay);
    timer.unref();
    timers.set(job.name, timer);
  };

  /** After how many milliseconds it is to run again, at the latest. */
  async function once(job: Job): Promise<number> {
    const state = states.get(job.name)!;
    state.running = true;
    state.runs++;
    try {
      const lease = job.oncePer === 'host' ? `job ${job.name} of ${hostName()}` : `job ${job.name}`;
      const run = job.oncePer === 'process' ? { result: await job.run() } : await leases.holding(lease, job.run);
      if (run === undefined && state.problem !== undefined) return engineLooksAgain;
      // What another process is doing is being done.
      const done = run?.result ?? {};
      state.lastSuccess = new Date();
      state.problem = undefined;
      if (Object.values(done).some((count) => count !== 0)) log.info({ job: job.name, ...done }, 'job done');
      return job.every;
    } catch (error) {
      state.failures++;
      const isSaid = isAway(error) && state.problem !== undefined;
      state.problem = inOneSentence(error);
      // Behind a stop that has not waited for it, it finds closed what it needs.
      log[isSaid || isOver ? 'debug' : 'error']({ job: job.name, err: error }, 'job failed');
      return isAway(error) ? engineLooksAgain : job.every;
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
      if (isOver) log.warn({ jobs }, 'not waited for jobs that take long; they begin anew after the next start');
    },
  };
}

const notYetRun = ({ name, every }: Job): JobState => ({
  name,
  every,
  running: false,
  runs: 0,
  failures: 0,
  lastSuccess: undefined,
  problem: undefined,
});

/** Whether runs have ended before a stop waits for them no longer. */
async function haveEnded(runs: Iterable<Promise<void>>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const waiting = setTimeout(() => late.resolve(false), stopWaits);
  const inTime = await Promise.race([Promise.all(runs).then(() => true), late.promise]);
  clearTimeout(waiting);
  return inTime;
}
