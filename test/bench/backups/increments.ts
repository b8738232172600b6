// The processor time of increments ([backup] every) in a serving process: of an idle store, and at ten changes per second.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { changeConfig } from '#configuration/config.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { processorTime, watchMachine } from '../harness/measure.ts';
import { fillStore } from '../harness/store.ts';

const root = join(import.meta.dirname, '../../..');
const packages = 10_000;
/** Five minutes and a half: a whole interval of the default, with the look of the job after it. */
const measuredSeconds = 330;

/** Prints the share of one core, with and without a folder for increments. */
export async function backups(): Promise<void> {
  console.log(`increments every 5 minutes, ${packages} packages`);
  for (const changesPerSecond of [0, 10])
    for (const increments of [false, true]) await measure(changesPerSecond, increments);
}

async function measure(changesPerSecond: number, increments: boolean): Promise<void> {
  const { directory, store, token } = await fillStore(packages, 0);
  await store.close();
  const folder = mkdtempSync(join(tmpdir(), 'larder-bench-backups-'));
  if (increments) changeConfig(join(directory, 'larder.toml'), { 'backup.folder': folder });
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const child = spawn(join(root, 'bin/larder'), ['serve', '--data', directory, '--listen', address], {
    stdio: 'ignore',
  });
  await until(() =>
    fetch(`http://${address}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const archives = (): number => readdirSync(folder).filter((name) => name.endsWith('.tar')).length;
  // The first increment is a full backup, and is not measured.
  await until(() => !increments || archives() === 1);
  await sleep(5000);
  const machine = watchMachine();
  const [before, began] = [processorTime(child), performance.now()];
  let changes = 0;
  for (let at = 0; at < measuredSeconds; at++) {
    for (let nth = 0; nth < changesPerSecond; nth++) {
      const body = JSON.stringify({ name: `bench-${String(at)}-${String(nth)}` });
      const headers = { authorization: `Macaroon ${token}`, 'content-type': 'application/json' };
      if ((await fetch(`http://${address}/v1/bin`, { method: 'POST', headers, body })).ok) changes++;
    }
    await sleep(Math.max(0, began + (at + 1) * 1000 - performance.now()));
  }
  const share = (processorTime(child) - before) / (performance.now() - began);
  const text = increments ? `${String(archives() - 1)} increments` : 'no folder';
  console.log(`  ${String(changes)} changes, ${text}: ${(share * 100).toFixed(2)} % of a core; ${machine()}`);
  child.kill('SIGTERM');
  await until(() => child.exitCode !== null || child.signalCode !== null);
  for (const path of [directory, folder]) rmSync(path, { recursive: true, force: true });
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(100);
}
