import fc from 'fast-check';
import t from 'tap';

import { parseBound, parseSteps } from '#domain/releases/rollout-text.ts';
import {
  durationText,
  judgeRollout,
  planOfPercentage,
  planText,
  readRolloutPlan,
  toRolloutDevice,
  type RolloutPlan,
  type RolloutPlanRequest,
} from '#domain/releases/rollout.ts';
import { Refusal } from '#domain/refusal.ts';

const problemOf = (request: RolloutPlanRequest): string => {
  try {
    readRolloutPlan(request);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
  return '';
};

t.test('a plan that makes no sense is refused with the reason', (t) => {
  const steps = [10];
  for (const [request, problem] of [
    [{ steps: [] }, /A step of 0 % reaches no device/],
    [{ steps: [0] }, /A step of 0 % reaches no device/],
    [{ steps: [0, 50, 100] }, /A step of 0 % reaches no device/],
    [{ steps: [100] }, /A single step of 100 % reaches all devices at once/],
    [{ steps: [50, 101] }, /101 % is not between 0 and 100 %/],
    [{ steps: [-1, 100] }, /-1 % is not between/],
    [{ steps: [Number.NaN] }, /NaN % is not between/],
    [{ steps: [50, 10, 100] }, /must rise, but 10 %/],
    [{ steps: [10, 10, 100] }, /must rise, but 10 %/],
    [{ steps: [1, 10, 50] }, /The last step is 50 %. End the steps with 100 %/],
    [{ steps: [0.01] }, /These are 10000 steps/],
    [{ steps, bound: { percentage: 100 } }, /A bound of 100 % never pauses the rollout/],
    [{ steps, bound: { percentage: -1 } }, /at least 0 %/],
    [{ steps, bound: { devices: 0 } }, /between 1 and 1,000,000 devices/],
    [{ steps, bound: { devices: 1.5 } }, /between 1 and 1,000,000 devices/],
    [{ steps, intervalSeconds: 0 }, /A step lasts between 1 min and 30 d, not 0 s/],
    [{ steps, intervalSeconds: 31 * 86_400 }, /A step lasts between/],
    [{ steps, silentSeconds: 3600 }, /silent after between 2 h and 30 d, not 3600 s/],
    [{ steps, notify: Array.from({ length: 21 }, (_, at) => `n${String(at)}`) }, /Notify at most 20 accounts/],
  ] satisfies [RolloutPlanRequest, RegExp][]) {
    t.match(problemOf(request), problem);
  }
  t.equal(problemOf({ steps, bound: { percentage: 0, devices: 1 } }), '', '0 % pauses at the first failure');
  t.end();
});

t.test('a percentage is added at each step, up to 100 %', (t) => {
  t.same(readRolloutPlan({ steps: [30] }).steps, [30, 60, 90, 100]);
  t.same(readRolloutPlan({ steps: [0.1] }).steps.length, 1000);
  t.same(readRolloutPlan({ steps: [1, 10, 50, 100] }).steps, [1, 10, 50, 100]);
  t.same(planOfPercentage(25)?.steps, [25, 50, 75, 100]);
  for (const all of [null, 0, 100]) t.equal(planOfPercentage(all), undefined, 'all devices at once');
  t.end();
});

t.test('steps and bounds are read as people write them', (t) => {
  t.same(parseSteps('1%, 10 %,50,100%'), [1, 10, 50, 100]);
  t.same(parseSteps('12.5'), [12.5]);
  for (const text of ['', 'x', '1%,', '1 2', '1000', '-1', '1.1234567', '%'])
    t.equal(parseSteps(text), undefined, text);
  t.same(parseBound('5% of 20'), { percentage: 5, devices: 20 });
  t.same(parseBound('0.5 %'), { percentage: 0.5 });
  for (const text of ['', 'of 20', '5% of', '5% of x', '5 of 20 of 30']) t.equal(parseBound(text), undefined, text);
  t.same(([90, 60, 3600, 5400, 86_400] as const).map(durationText), ['90 s', '1 min', '1 h', '90 min', '1 d']);
  t.end();
});

const plans = fc
  .record({
    steps: fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 5 }),
    intervalSeconds: fc.integer({ min: 60, max: 90_000 }),
    bound: fc.record({ percentage: fc.integer({ min: 0, max: 99 }), devices: fc.integer({ min: 1, max: 99 }) }),
    silentSeconds: fc.integer({ min: 7200, max: 90_000 }),
    notify: fc.uniqueArray(fc.constantFrom('ada', 'bob', 'carol'), { maxLength: 3 }),
  })
  .map(({ steps, ...rest }): RolloutPlan => readRolloutPlan({ ...rest, steps: [...steps.sort((a, b) => a - b), 100] }));

t.test('two plans with the same text are the same plan, so each change needs its own approval', (t) => {
  fc.assert(
    fc.property(plans, plans, (plan, other) => {
      t.equal(planText(plan) === planText(other), JSON.stringify(plan) === JSON.stringify(other));
      for (const [name, changed] of [
        ['a larger step', { ...plan, steps: [Number((plan.steps[0]! + 0.5).toFixed(1)), ...plan.steps.slice(1)] }],
        ['a shorter step', { ...plan, intervalSeconds: plan.intervalSeconds - 1 }],
        ['a looser bound', { ...plan, bound: { ...plan.bound, percentage: plan.bound.percentage + 0.5 } }],
        ['more devices', { ...plan, bound: { ...plan.bound, devices: plan.bound.devices + 1 } }],
        ['a longer silence', { ...plan, silentSeconds: plan.silentSeconds + 1 }],
        ['other people', { ...plan, notify: [...plan.notify, 'zoe'] }],
      ] as const)
        t.not(planText(changed), planText(plan), name);
    }),
    { numRuns: 100 },
  );
  t.end();
});

const report = { revision: 2, step: 0, judgedFrom: '2026-01-01T00:00:00.000Z' };
const reports = fc.array(
  fc.record({
    holds: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    isOffered: fc.boolean(),
    isHeld: fc.boolean(),
    hour: fc.integer({ min: 0, max: 200 }),
  }),
  { maxLength: 12 },
);

t.test('a device counts once and only after an offer, and a device that came back stays in trouble', (t) => {
  fc.assert(
    fc.property(reports, (reported) => {
      let device: ReturnType<typeof toRolloutDevice>;
      let [wasOffered, cameBack] = [false, false];
      for (const { hour, ...rest } of reported) {
        const at = new Date(Date.UTC(2026, 0, 2, hour)).toISOString();
        wasOffered ||= rest.isOffered && rest.holds !== undefined;
        device = toRolloutDevice(device, { ...report, ...rest, at });
        if (!wasOffered) t.equal(device, undefined);
        if (cameBack) t.equal(device?.state, 'back');
        cameBack ||= device?.state === 'back';
      }
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('a device that removes the snap neither fails nor blocks a rollout', (t) => {
  const at = '2026-01-02T00:00:00.000Z';
  const removed = { ...report, holds: undefined, isOffered: false, isHeld: false, at };
  const device = { step: 0, had: 1, since: at };
  t.match(toRolloutDevice({ ...device, state: 'offered' }, removed), { state: 'held' });
  for (const state of ['took', 'failed', 'held', 'back'] as const)
    t.match(toRolloutDevice({ ...device, state }, removed), { state }, 'a result stays');
  const again = { ...removed, holds: 1, isOffered: true, at: '2026-01-03T00:00:00.000Z' };
  t.match(toRolloutDevice({ ...device, state: 'held' }, again), { state: 'offered', since: again.at });
  t.end();
});

t.test('a rollout rises only if the bound would hold even if every open offer failed', (t) => {
  const plan = readRolloutPlan({ steps: [10], intervalSeconds: 3600, bound: { percentage: 5, devices: 20 } });
  const of = (tried: number, troubled: number, open: number, triedInStep = tried) =>
    judgeRollout(plan, { tried, troubled, open, triedInStep }, 3600).verdict;
  t.equal(of(100, 5, 0), 'raise', 'exactly the bound is not more');
  t.equal(of(100, 6, 0), 'pause');
  t.equal(of(100, 0, 5), 'raise');
  t.equal(of(100, 0, 6), 'wait');
  t.equal(of(19, 19, 100), 'wait', 'too few have tried it');
  t.equal(of(19, 19, 0), 'pause', 'and there are no further results to wait for');
  t.equal(of(0, 0, 0), 'wait', 'without any result');
  t.equal(of(100, 0, 0, 3), 'wait', 'without results of this step');
  t.equal(
    judgeRollout(plan, { tried: 3, troubled: 0, open: 0, triedInStep: 3 }, 86_400).verdict,
    'raise',
    'after a day',
  );
  t.equal(judgeRollout(plan, { tried: 100, troubled: 0, open: 0, triedInStep: 100 }, 3599).verdict, 'wait', 'too soon');
  t.end();
});

t.test('the rest of a step is said in hours and minutes, rounded up', (t) => {
  const results = { tried: 0, troubled: 0, open: 0, triedInStep: 0 };
  const day = readRolloutPlan({ steps: [10], intervalSeconds: 86_400, bound: { percentage: 5, devices: 20 } });
  for (const [servedSeconds, rest] of [
    [0, '24 h'],
    [300, '23 h 55 min'],
    [82_799, '1 h 1 min'],
    [82_801, '1 h'],
    [86_399, '1 min'],
  ] as const)
    t.equal(judgeRollout(day, results, servedSeconds).because, `the step lasts ${rest} more`, rest);
  t.end();
});
