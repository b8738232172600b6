// Own process: sets environment variables of the processes that it starts.
// The answers of a store on several hosts fit its audit log, whatever happens to hosts, engines and their network.
import t from 'tap';

import { historyTimeoutMs, runShare } from './run-setup.ts';
import { startSeveralHosts } from './several-hosts.ts';

t.setTimeout(historyTimeoutMs);

t.test('every answer of two hosts fits the audit log', async (t) => {
  await runShare(t, 'two hosts', await startSeveralHosts(t, 2), 0.25);
});

t.test('every answer of three hosts fits the audit log', async (t) => {
  await runShare(t, 'three hosts', await startSeveralHosts(t, 3), 0.25);
});
