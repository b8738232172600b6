// Jobs on a clock that moves on request.
import { mock } from 'node:test';

import { pino, type Logger } from 'pino';
import t, { type Test } from 'tap';

import { hours, minutes } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import type { Leases } from '#shared/leases.ts';
import { runJobs, type BackgroundJob, type Runner, type RunnerOptions } from '#jobs/runner.ts';

const job = (name: string, run: BackgroundJob['run'], every = 10): BackgroundJob => ({
  name,
  every,
  inDoubt: 'runs',
  run,
});

/** No other process holds a lease. */
const free: Leases = { withLease: async (_name, work) => ({ result: await work() }) };

interface World {
  run(jobs: BackgroundJob[], options?: Partial<RunnerOptions>): Runner;
  /**
   * Advances the clock by milliseconds, one by one or in larger steps; each job that is due has ended, or waits, before
   * the next step.
   */
  pass(milliseconds: number, step?: number): Promise<void>;
  lines: string[];
}

function world(t: Test): World {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const lines: string[] = [];
  const log: Logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  return {
    lines,
    run: (jobs, options = {}) =>
      runJobs(jobs, { log, firstAfter: 1, isClockInDoubt: () => false, leases: free, ...options }),
    async pass(milliseconds, step = 1) {
      for (let at = 0; at < milliseconds; at += step) {
        mock.timers.tick(step);
        await new Promise(setImmediate);
      }
    },
  };
}

t.test('each job comes round again, and never twice at once', async (t) => {
  const { run, pass } = world(t);
  const ends: (() => void)[] = [];
  const runner = run([job('slow', () => new Promise((resolve) => ends.push(() => resolve({}))))]);
  await pass(1);
  t.equal(ends.length, 1);
  await pass(50);
  t.equal(ends.length, 1, 'the next one waits for the end of the first');
  t.match(runner.state(), [{ running: true, runs: 1 }]);
  ends[0]!();
  await pass(9);
  t.equal(ends.length, 1, 'and then for the interval');
  await pass(2);
  t.equal(ends.length, 2);

  let stopped = false;
  const stopping = runner.stop().then(() => (stopped = true));
  await pass(50);
  t.notOk(stopped, 'stopping waits for the run under way');
  ends[1]!();
  await stopping;
  await pass(50);
  t.equal(ends.length, 2, 'and begins no other');
});

t.test('a stop waits half a minute for a longer run, and names the job', async (t) => {
  const { run, pass, lines } = world(t);
  const cut = Promise.withResolvers<Record<string, unknown>>();
  const runner = run([job('sweep everything', () => cut.promise), job('quick', async () => ({}))]);
  await pass(1);
  let isStopped = false;
  const stopping = runner.stop().then(() => (isStopped = true));
  await pass(29_000, 1000);
  t.notOk(isStopped);
  await pass(2000, 1000);
  await stopping;
  t.match(JSON.parse(lines.at(-1)!), { jobs: ['sweep everything'], msg: /start again after the next start/ });
  cut.reject(new Error('cannot read: the database is closed'));
  await pass(1);
  t.notMatch(lines.at(-1), /job failed/, 'nobody is told of what follows from that');
});

t.test('a job that fails is logged and tried again, and delays no other', async (t) => {
  const { run, pass, lines } = world(t);
  let [failed, fine] = [0, 0];
  const runner = run([
    job('broken', async () => {
      failed++;
      throw new Error('out of luck');
    }),
    job('fine', async () => ({ counted: ++fine })),
  ]);
  await pass(30);
  await runner.stop();
  t.same([failed, fine], [3, 3]);
  t.match(lines.join(''), /"job":"broken".*out of luck.*"msg":"job failed"/);
  t.match(lines.join(''), /"job":"fine","counted":1,"msg":"job done"/);
});

t.test('a job that a shortage stopped runs again within seconds, and then more and more rarely', async (t) => {
  const { run, pass } = world(t);
  let [now, isShort] = [0, true];
  const runs: number[] = [];
  const runner = run([
    job(
      'daily',
      async () => {
        runs.push(now);
        if (isShort) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
        return {};
      },
      minutes(1),
    ),
  ]);
  const wait = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++, now++) await pass(1000, 1000);
  };
  await wait(200);
  t.strictSame(runs, [0, 5, 15, 35, 75, 135, 195], 'never more rarely than at its interval');
  t.match(runner.state(), [{ failures: 7, problem: /too many files open/ }]);
  isShort = false;
  await wait(60);
  t.match(runner.state(), [{ runs: 8, problem: undefined }]);
  isShort = true;
  await wait(70);
  t.strictSame(runs.slice(7), [255, 315, 320], 'after a success the first delay is 5 s again');
  await runner.stop();
});

t.test('a job without work logs nothing', async (t) => {
  const { run, pass, lines } = world(t);
  let runs = 0;
  const runner = run([job('idle', async () => ({ done: 0, runs: runs++ * 0 }))]);
  await pass(30);
  await runner.stop();
  t.equal(runs, 3);
  t.same(lines, []);
});

t.test('a runner that is stopped before anything is due does nothing', async (t) => {
  const { run, pass } = world(t);
  let runs = 0;
  const runner = run([job('late', async () => ({ runs: ++runs }))], { firstAfter: 20 });
  await pass(10);
  await runner.stop();
  await pass(50);
  t.equal(runs, 0);
});

t.test('while the clock is in doubt only those run that may, and the others when it is not any more', async (t) => {
  const { run, pass } = world(t);
  let inDoubt = true;
  const runs: Record<string, number> = { often: 0, daily: 0, signs: 0 };
  const counted = (name: string, every: number): BackgroundJob =>
    job(name, async () => ({ runs: ++runs[name]! }), every);
  const runner = run(
    [
      { ...counted('often', 10), inDoubt: 'waits' },
      { ...counted('daily', hours(24)), inDoubt: 'waits' },
      counted('signs', 10),
    ],
    { isClockInDoubt: () => inDoubt },
  );
  await pass(100);
  t.match(runs, { often: 0, daily: 0 });
  t.ok(runs['signs']! > 5);
  inDoubt = false;
  await pass(10);
  t.match(runs, { often: 1, daily: 0 }, 'at the next turn');
  mock.timers.tick(minutes(1));
  await new Promise(setImmediate);
  t.match(runs, { daily: 1 }, 'or within a minute');
  await runner.stop();
});

t.test('of several processes one runs a job for all, unless each has to for itself', async (t) => {
  const { run, pass } = world(t);
  const held = new Set<string>();
  const leases: Leases = {
    async withLease(name, work) {
      if (held.has(name)) return undefined;
      held.add(name);
      return { result: await work().finally(() => held.delete(name)) };
    },
  };
  const running: Record<string, number> = { forAll: 0, each: 0 };
  const slow = (name: string): BackgroundJob =>
    job(name, () => new Promise(() => (running[name] = running[name]! + 1)));
  const runners = ['here', 'there'].map(() =>
    run([slow('forAll'), { ...slow('each'), oncePer: 'process' }], { leases }),
  );
  await pass(20);
  t.match(running, { forAll: 1, each: 2 });
  t.same(runners.map((runner) => runner.state().find(({ name }) => name === 'forAll')?.running).sort(), [false, true]);
  t.same(
    runners.flatMap((runner) => runner.state().flatMap(({ problem }) => problem ?? [])),
    [],
  );
});

t.test('a job without its engine runs again when the engine is back, and reports it once', async (t) => {
  const { run, pass, lines } = world(t);
  const away = new Refusal('remote-service-unavailable', 'The database does not answer.', 5);
  let isAway = true;
  let held = false;
  const runs: number[] = [];
  // A lease that it cannot release while the database is away stays for a while afterwards.
  const leases: Leases = {
    async withLease(_name, work) {
      if (held) return undefined;
      held = true;
      const result = await work();
      held = false;
      return { result };
    },
  };
  const work = async (): Promise<Record<string, unknown>> => {
    runs.push(1);
    if (isAway) await Promise.reject(away);
    return {};
  };
  const runner = run([job('seldom', work, hours(24))], { leases });
  const problem = (): string | undefined => runner.state()[0]!.problem;
  await pass(2);
  await pass(5000, 1000);
  t.match(problem(), /does not answer/);
  held = false;
  await pass(5000, 1000);
  t.equal(runs.length, 2);
  t.equal(lines.length, 1, 'which is said once');
  isAway = false;
  await pass(5000, 1000);
  t.match(problem(), /does not answer/, 'while its lease lasts it is not done by anybody');
  held = false;
  await pass(5000, 1000);
  t.equal(runs.length, 3);
  t.equal(problem(), undefined);
  await pass(20_000, 1000);
  t.equal(runs.length, 3, 'and then at its interval');
  await runner.stop();
});
