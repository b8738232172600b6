// Random moments of a store under load come back, each as the audit log of the store says that it was.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { createSeededNumbers } from '#domain/seeded-numbers.ts';
import { openStore } from '#data/store.ts';
import type { AuditRow } from '#records/audit/audit.ts';
import { folder as newFolder, newStore, serve } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { ask } from '#test/fixtures/processes/workers.ts';

t.setTimeout(3_600_000);

const moments = process.env['LARDER_LONG'] === '1' ? 100 : 12;
const backups = 8;

async function readLog(data: string): Promise<AuditRow[]> {
  const store = await openStore({ directory: data });
  const rows = await store.records.audit.list(0, 1_000_000);
  await store.close();
  return rows;
}

const namesIn = async (data: string): Promise<string[]> => {
  const store = await openStore({ directory: data });
  const { out } = await larder('package list --json', { env: { LARDER_DATA: data } });
  await store.close();
  return (JSON.parse(out) as { packages: { name: string }[] }).packages.map(({ name }) => name).sort();
};

/** The names that are registered after these entries. */
function replay(rows: readonly AuditRow[]): string[] {
  const names = new Set<string>();
  for (const { action, object, outcome } of rows) {
    if (outcome === 'refused') continue;
    const name = object.slice(object.indexOf('/') + 1);
    if (action === 'register_name') names.add(name);
    if (action === 'unregister_package') names.delete(name);
  }
  return [...names].sort();
}

t.test(`${moments} random moments of a store under load are each as the audit log says`, async (t) => {
  const seed = Number(process.env['LARDER_SEED'] ?? Date.now() % 1e6);
  t.comment(`LARDER_SEED=${seed}`);
  const random = createSeededNumbers(seed);
  const { data, larder: run, json } = await newStore(t);
  const token = (await run('token issue --account larder-admin')).out.trim();
  const headers = { authorization: `Macaroon ${token}` };
  const { url, child, ended } = await serve(t, data);
  const folder = newFolder(t);

  let isOver = false;
  const client = async (number: number): Promise<void> => {
    for (let nth = 0; !isOver; nth++) {
      const name = `c${number}-n${nth}`;
      const { status } = await ask(url, '/v1/bin', { method: 'POST', headers, body: { name } });
      if (status !== 200) throw new Error(`${name}: ${status}`);
      if (random() < 0.3) await ask(url, `/v1/bin/${name}`, { method: 'DELETE', headers });
      await sleep(random() * 60);
    }
  };
  const clients = [1, 2, 3].map(client);
  const made: { began: number; madeAt: number }[] = [];
  for (let nth = 0; nth < backups; nth++) {
    const began = Date.now();
    const { 'made-at': madeAt } = (await json(`backup ${folder} --increment`)) as { 'made-at': string };
    made.push({ began, madeAt: Date.parse(madeAt) });
  }
  isOver = true;
  await Promise.all(clients);
  child.kill('SIGTERM');
  await ended;
  const history = await readLog(data);

  const [first, last] = [made[0]!.madeAt, Date.now()];
  for (let nth = 0; nth < moments; nth++) {
    const moment = Math.floor(first + random() * (last - first));
    const at = new Date(moment).toISOString();
    const target = join(folder, `restored-${nth}`);
    const { code, err } = await larder(`restore ${folder} --at ${at} --data ${target} --keys ${data}`);
    t.equal(code, 0, err);
    const names = await namesIn(target);
    const log = await readLog(target);
    const end = log.findIndex(({ action }) => action === 'restore_store');
    const restored = log.slice(0, end);
    const head = restored.at(-1)!;
    t.equal(history[head.seq - 1]?.hash, head.hash, `${at}: its log is the beginning of the log of the store`);
    t.ok(Date.parse(head.at) <= moment, `${at}: no later change is in it`);
    const { began } = made.findLast(({ madeAt }) => madeAt <= moment)!;
    const missing = history.filter(({ seq, at: time }) => seq > head.seq && Date.parse(time) < began);
    t.same(missing, [], `${at}: every change from before the newest backup is in it`);
    t.same(names, replay(restored), `${at}: the records are those that the log leads to`);
    rmSync(target, { recursive: true });
  }
});
