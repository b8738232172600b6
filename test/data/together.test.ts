// The reports of several processes that serve one store, merged into one.
import t from 'tap';

import { mergeServingStates, type ServingState } from '#data/serving-state.ts';
import type { JobState } from '#jobs/runner.ts';

const job = (name: string, more: Partial<JobState> = {}): JobState => ({
  name,
  every: 1000,
  running: false,
  runs: 0,
  failures: 0,
  lastSuccess: undefined,
  problem: undefined,
  ...more,
});
const state = (more: Partial<ServingState>): ServingState => ({
  pid: 1,
  url: 'http://a',
  version: '1',
  since: '2026-03-01',
  level: 'info',
  sealed: false,
  certificate: undefined,
  problems: [],
  notices: [],
  jobs: [],
  scrub: { blobs: 0, bytes: 0, damaged: 0, roundEnded: undefined },
  ...more,
});
const [early, late] = [new Date('2026-03-01T12:00:00Z'), new Date('2026-03-01T12:00:01Z')];

t.test('a problem of one process is a problem of all, and is reported once', (t) => {
  const merged = mergeServingStates([
    state({ problems: ['The disk is full.'], notices: ['one'] }),
    state({ problems: ['The disk is full.', 'The clock is wrong.'], sealed: true, working: false }),
  ]);
  t.match(merged, { problems: ['The disk is full.', 'The clock is wrong.'], notices: ['one'] });
  t.match(merged, { sealed: true, working: false, pid: 1 });
  t.equal(mergeServingStates([state({}), state({ working: true })]).working, true);
  t.end();
});

t.test('job runs and reads are added up; of times the latest counts', (t) => {
  const scrub = { blobs: 1, bytes: 10, damaged: 0, roundEnded: early.toISOString() };
  const merged = mergeServingStates([
    state({ jobs: [job('a', { runs: 2, failures: 1, lastSuccess: late, problem: 'broken' })], scrub }),
    state({ jobs: [job('a', { runs: 3, lastSuccess: early, running: true }), job('b')] }),
    state({ scrub: { ...scrub, damaged: 2, roundEnded: late.toISOString() } }),
  ]);
  t.same(merged.jobs, [
    job('a', { runs: 5, failures: 1, lastSuccess: late, problem: 'broken', running: true }),
    job('b'),
  ]);
  t.same(merged.scrub, { blobs: 2, bytes: 20, damaged: 2, roundEnded: late.toISOString() });
  t.end();
});

t.test('the process that knows about a certificate or the workers reports it for all', (t) => {
  const certificate = { ends: early, hosts: ['a'], fingerprint: 'f' };
  const workers = { wanted: 2, serving: 1, ended: 0, each: [] };
  t.match(mergeServingStates([state({}), state({ certificate }), state({ workers })]), { certificate, workers });
  t.notOk('workers' in mergeServingStates([state({})]));
  t.end();
});
