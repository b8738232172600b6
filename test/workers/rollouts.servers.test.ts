// Two workers count the reports of devices together, and one of them stops a rollout.
import t from 'tap';

import { serveByWorkers } from '#test/fixtures/processes/workers.ts';
import { stopsOnce, storeToServe } from '#test/jobs/releases/rollout-on-processes.ts';

t.setTimeout(600_000);

t.test('two workers stop a rollout once, within a minute', async (t) => {
  const served = await storeToServe(t);
  const workers = await serveByWorkers(t, served.store.directory);
  await stopsOnce(t, served, [workers.url]);
});
