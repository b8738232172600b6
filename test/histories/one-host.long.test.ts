// Own process: sets environment variables of the processes that it starts.
// The answers of a store on one host fit its audit log, whatever ends or delays its processes.
import t from 'tap';

import { startOneProcess, startTwoWorkers } from './one-host.ts';
import { historyTimeoutMs, runShare } from './run-setup.ts';

t.setTimeout(historyTimeoutMs);

t.test('every answer of one process fits its audit log', async (t) => {
  await runShare(t, 'one process', await startOneProcess(t), 0.25);
});

t.test('every answer of two workers fits the audit log', async (t) => {
  await runShare(t, 'two workers', await startTwoWorkers(t), 0.25);
});
