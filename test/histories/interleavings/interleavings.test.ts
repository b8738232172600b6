// Own process: the waits of the store are those of the scheduler.
// Processes of a store on one file, one call at a time in an order that a seed decides, with failures, ends of processes
// and clocks that differ: every answer fits the audit log.
import t from 'tap';

import { isLongLane } from '#test/fixtures/large.ts';
import { runInterleavings } from './run-interleavings.ts';

const long = process.env['LARDER_LONG'] === '1';
t.setTimeout(0);

t.test('every answer of processes on one file fits the audit log, in any order of their calls', (t) =>
  runInterleavings(t, 'sqlite', long ? 50_000 : isLongLane ? 2000 : 100),
);
