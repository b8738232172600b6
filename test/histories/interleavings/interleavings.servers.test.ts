// Own process: the waits of the store are those of the scheduler.
// Processes of a store on one PostgreSQL server, one call at a time in an order that a seed decides, with lost
// connections, ends of processes and clocks that differ: every answer fits the audit log.
import t from 'tap';

import { runInterleavings } from './run-interleavings.ts';

t.setTimeout(0);

t.test('every answer of processes on one server fits the audit log, in any order of their calls', (t) =>
  runInterleavings(t, 'postgres', process.env['LARDER_LONG'] === '1' ? 5000 : 100),
);
