// Work that comes round again: each job at its interval, one run of it at a time.
import type { Logger } from 'pino';

export interface Job {
  name: string;
  /** Milliseconds from the end of one run to the beginning of the next. */
  every: number;
  /** Does what is due; what it returns is logged when it is not empty. */
  run(): Promise<Record<string, unknown>>;
}

export interface Runner {
  /** Lets the runs under way finish, and begins no other. */
  stop(): Promise<void>;
}

/** Runs each job soon after the start, and then at its interval; a failure is logged and tried again next time. */
export function runJobs(jobs: Job[], log: Logger, firstAfter: number): Runner {
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  let stopped = false;

  const schedule = (job: Job, delay: number): void => {
    if (stopped) return;
    const timer = setTimeout(() => {
      const run = once(job).finally(() => {
        running.delete(run);
        schedule(job, job.every);
      });
      running.add(run);
    }, delay);
    timer.unref();
    timers.set(job.name, timer);
  };

  async function once(job: Job): Promise<void> {
    try {
      const done = await job.run();
      if (Object.values(done).some((count) => count !== 0)) log.info({ job: job.name, ...done }, 'job done');
    } catch (error) {
      log.error({ job: job.name, err: error }, 'job failed');
    }
  }

  for (const job of jobs) schedule(job, firstAfter);
  return {
    async stop() {
      stopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}
