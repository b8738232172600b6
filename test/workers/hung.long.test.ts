// A worker that answers nothing any more is killed, and another one takes its place.
import { join } from 'node:path';

import t from 'tap';

import { readStateFile, type WorkersState } from '#data/serving-state.ts';
import { changeConfig } from '#configuration/config.ts';
import { newStore } from '#test/cli/process.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { until } from '#test/fixtures/until.ts';
import { superviseWorkers } from '#workers/supervisor.ts';

t.setTimeout(300_000);

t.test('a hanging worker is killed and replaced, and the others serve in that time', async (t) => {
  const { data } = await newStore(t);
  changeConfig(join(data, 'larder.toml'), { 'http.workers': 2 });
  const listen = `127.0.0.1:${String(await freePort())}`;
  const fatal = (error: Error): void => void t.fail(error.message);
  // Two responses in succession are missing; the supervisor waits two seconds for each.
  const hangLimits = { intervalMs: 200, maxUnanswered: 2 };
  const supervised = await superviseWorkers({ directory: data, credentials: undefined, listen, fatal, hangLimits });
  const workers = (): WorkersState['each'] => readStateFile(data)?.workers?.each ?? [];
  await until(() => workers().length === 2);
  const hung = workers().find(({ number }) => number === 2)!.pid;
  process.kill(hung, 'SIGSTOP');
  await until(() => workers().some(({ number, pid }) => number === 2 && pid !== hung));
  t.throws(() => process.kill(hung, 0), { code: 'ESRCH' }, 'it is gone');
  t.equal((await fetch(`http://${listen}/readyz`)).status, 200);
  await supervised.stop();
});
