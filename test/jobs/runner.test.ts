import { setTimeout as sleep } from 'node:timers/promises';

import { pino, type Logger } from 'pino';
import t from 'tap';

import { runJobs, type Job } from '#jobs/runner.ts';

const listening = (): { log: Logger; lines: string[] } => {
  const lines: string[] = [];
  return { log: pino({ base: null }, { write: (line: string) => void lines.push(line) }), lines };
};
const job = (name: string, run: Job['run'], every = 1): Job => ({ name, every, inDoubt: 'runs', run });
const soon = (log: Logger, firstAfter = 1) => ({ log, firstAfter, isClockInDoubt: () => false });

t.test('each job comes round again, and never twice at once', async (t) => {
  const { log } = listening();
  let [running, most, runs] = [0, 0, 0];
  const slow = job('slow', async () => {
    most = Math.max(most, ++running);
    await sleep(5);
    running--;
    runs++;
    return {};
  });
  const runner = runJobs([slow], soon(log));
  while (runs < 4) await sleep(2);
  await runner.stop();
  t.equal(most, 1);
  t.equal(running, 0, 'stopping waits for the run under way');
  const after = runs;
  await sleep(20);
  t.equal(runs, after, 'and begins no other');
});

t.test('a job that fails is logged and tried again, and holds up no other', async (t) => {
  const { log, lines } = listening();
  let [failed, fine] = [0, 0];
  const runner = runJobs(
    [
      job('broken', async () => {
        failed++;
        throw new Error('out of luck');
      }),
      job('fine', async () => ({ counted: ++fine })),
    ],
    soon(log),
  );
  while (failed < 3 || fine < 3) await sleep(2);
  await runner.stop();
  t.match(lines.join(''), /"job":"broken".*out of luck.*"msg":"job failed"/);
  t.match(lines.join(''), /"job":"fine","counted":1,"msg":"job done"/);
});

t.test('what did nothing says nothing', async (t) => {
  const { log, lines } = listening();
  let runs = 0;
  const runner = runJobs([job('idle', async () => ({ done: 0, runs: runs++ * 0 }))], soon(log));
  while (runs < 3) await sleep(2);
  await runner.stop();
  t.same(lines, []);
});

t.test('a runner that is stopped before anything is due does nothing', async (t) => {
  const { log } = listening();
  let runs = 0;
  const runner = runJobs([job('late', async () => ({ runs: ++runs }))], soon(log, 60_000));
  await runner.stop();
  t.equal(runs, 0);
});

t.test('while the clock is in doubt only those run that may, and the others when it is not any more', async (t) => {
  const { log } = listening();
  let [inDoubt, waited, ran] = [true, 0, 0];
  const runner = runJobs(
    [
      { ...job('forgets', async () => ({ runs: ++waited })), inDoubt: 'waits' },
      job('signs', async () => ({ runs: ++ran })),
    ],
    { log, firstAfter: 1, isClockInDoubt: () => inDoubt },
  );
  while (ran < 20) await sleep(2);
  t.equal(waited, 0);
  inDoubt = false;
  while (waited < 2) await sleep(2);
  await runner.stop();
});
