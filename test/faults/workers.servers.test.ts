// Fewer workers than are to serve: produced for real, and every place is asked about it.
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import t from 'tap';

import type { FaultCode } from '#platform/faults.ts';
import { newStore } from '#test/cli/process.ts';
import { serveByWorkers, type Workers } from '#test/fixtures/processes/workers.ts';
import { until } from '#test/fixtures/until.ts';
import { showsEverywhere, showsNowhere } from './places.ts';
import { placesOfProcesses } from './processes.ts';

t.setTimeout(600_000);

interface Row {
  code: FaultCode;
  says: RegExp;
  /** How many workers end one after the other. */
  ends: number;
}

const rows: Row[] = [
  { code: 'few-workers', says: /^1 of 2 workers serve; the others are being started$/, ends: 1 },
  { code: 'workers-end', says: /^1 of 2 workers serve: the others end again and again$/, ends: 3 },
];

/** Has the second worker end, and waits until it has. */
async function endSecond(workers: Workers): Promise<void> {
  const pid = workers.pids().get(2)!;
  process.kill(pid, 'SIGKILL');
  await until(() => !workers.isRunning(pid) && workers.pids().get(2) !== pid);
}

for (const { code, says, ends } of rows) {
  t.test(`'${code}' shows at every place in the same words, and no longer once all of them serve`, async (t) => {
    const { data } = await newStore(t);
    const workers = await serveByWorkers(t, data);
    const places = await placesOfProcesses({ data, url: workers.url, log: () => workers.log() });
    for (let end = 1; end < ends; end++) {
      await endSecond(workers);
      await workers.serving(2);
    }
    // The next one waits for its key while it starts.
    const key = join(data, 'master.key');
    const content = readFileSync(key);
    renameSync(key, `${key}.aside`);
    execFileSync('mkfifo', ['-m', '600', key]);
    await endSecond(workers);
    const fault = await showsEverywhere(t, places, code);
    t.match(fault?.says, says);
    await writeFile(key, content);
    renameSync(`${key}.aside`, key);
    await workers.serving(2);
    await showsNowhere(t, places, code, fault);
  });
}
