// At its start a process leaves the rows of living processes, and takes those of dead ones.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import t from 'tap';

import {
  isRunning,
  createLivenessCheck,
  processName,
  registerProcess,
  endDeadProcesses,
  isAloneNow,
} from '#shared/processes.ts';
import { createShares } from '#shared/shares.ts';
import { openRecords } from '#test/fixtures/records/records.ts';
import { until } from '#test/fixtures/until.ts';

const program = `
  const { processName } = await import(process.argv[1]);
  process.stdout.write(processName());
  process.stdin.resume();`;

/** Another process, and its name. */
async function another(t: { teardown(work: () => unknown): void }) {
  const file = join(import.meta.dirname, '../../src/shared/processes.ts');
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill());
  const [name] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, name: name.toString() };
}

const now = () => new Date('2026-03-01T12:00:00Z');
const ends = { now: '', endsAt: '9999', tooLate: '9999' };

t.test('leases of dead processes end, leases of living ones stay, and a restarted process has none', async (t) => {
  const [records] = await openRecords(t);
  const { child, name } = await another(t);
  const take = (lease: string, holder: string) =>
    records.ephemeral(({ leases }) => leases.take(lease, `${holder} 1`, ends));
  await take('living', name);
  await take('dead', '4194305.1');
  await take('before', `${child.pid!}.1`);
  await take('own', processName());
  t.same(await endDeadProcesses(records, now), { isAlone: false });
  t.same(await records.leases.holders(), [`${name} 1`]);

  child.kill('SIGKILL');
  await once(child, 'exit');
  t.same(await endDeadProcesses(records, now), { isAlone: true });
  t.same(await records.leases.holders(), []);
});

t.test('a process that registers while another one starts is seen before files are removed', async (t) => {
  const [records] = await openRecords(t);
  const { name } = await another(t);
  t.same(await endDeadProcesses(records, now), { isAlone: true });
  const own = await registerProcess(records, now);
  t.ok(await isAloneNow(records, now), 'its own entry does not count');
  await records.ephemeral(({ leases }) => leases.take(`process ${name}`, name, ends));
  t.notOk(await isAloneNow(records, now));
  await own.end();
});

t.test('a process that serves beside another one is known until it ends', async (t) => {
  const [records] = await openRecords(t);
  const serving = await registerProcess(records, now);
  t.same(await records.leases.holders(), [processName()]);
  await serving.end();
  t.same(await records.leases.holders(), []);
});

t.test('a process of this host counts as alive as long as it runs', async (t) => {
  const { child, name } = await another(t);
  t.ok(isRunning(name));
  t.ok(isRunning(`${name} 12`));
  const [number = '', host = ''] = name.split('@');
  t.ok(isRunning(number), 'as releases before this one called it');
  for (const none of ['', 'x', '1.', '@', `@${host}`, `${child.pid!}`, `${number}0@${host}`])
    t.notOk(isRunning(none), none);
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.notOk(isRunning(name));
});

t.test('leases of a process on another host are its own as long as it renews them', async (t) => {
  const [records] = await openRecords(t);
  const [number = ''] = processName().split('@');
  // It has the number of a process of this host, and began at the same moment.
  const name = `${number}@${'0'.repeat(12)}`;
  t.notOk(isRunning(name));
  const say = (endsAt: string) =>
    records.ephemeral(({ leases }) => leases.take(`process ${name}`, name, { ...ends, endsAt }));
  const take = (lease: string) => records.ephemeral(({ leases }) => leases.take(lease, `${name} 1`, ends));
  await take('a job');
  await say('2026-03-01T12:00:01.000Z');
  t.same(await endDeadProcesses(records, now), { isAlone: false });
  t.ok((await createLivenessCheck(records, [name], now))(`${name} 1`));
  t.same((await records.leases.holders()).sort(), [name, `${name} 1`]);

  await say('2026-03-01T12:00:00.000Z');
  t.notOk((await createLivenessCheck(records, [name], now))(name));
  t.same(await endDeadProcesses(records, now), { isAlone: true });
  t.same(await records.leases.holders(), []);
});

t.test('a process with its records on a server renews its registration', async (t) => {
  const [{ ephemeral, leases }] = await openRecords(t);
  const serving = await registerProcess({ ephemeral, server: { clock: () => Promise.resolve(now()) } }, now);
  t.match(await leases.find(`process ${processName()}`), { endsAt: '2026-03-01T12:01:00.000Z' });
  await serving.end();
});

t.test('a process that was taken for dead checks before it renews its registration', async (t) => {
  const [{ ephemeral, leases }] = await openRecords(t);
  let moment = now();
  const calls: string[][] = [];
  let answer = true;
  const mayReturn = (others: string[]): boolean => {
    calls.push(others);
    return answer;
  };
  const name = `process ${processName()}`;
  const waitForRenewal = (): Promise<void> => {
    const endsAt = new Date(moment.getTime() + 60_000).toISOString();
    return until(async () => (await leases.find(name))?.endsAt === endsAt);
  };
  const server = { clock: () => Promise.resolve(moment) };
  const serving = await registerProcess({ ephemeral, server }, () => moment, { mayReturn, pause: 1 });
  t.teardown(() => serving.end());
  const [number = ''] = processName().split('@');
  const other = `${number}@store-2~${'0'.repeat(12)}`;
  await ephemeral((tx) => tx.leases.take(`process ${other}`, other, ends));
  moment = new Date('2026-03-01T12:00:59Z');
  await waitForRenewal();
  t.same(calls, [], 'it was never away for a minute');

  moment = new Date('2026-03-01T12:02:00Z');
  await waitForRenewal();
  t.same(calls, [['store-2']]);
  await ephemeral((tx) => tx.leases.releaseAll(processName()));
  await waitForRenewal();
  t.same(calls, [['store-2'], ['store-2']], 'also where somebody has cleared away what it held');

  answer = false;
  await ephemeral((tx) => tx.leases.releaseAll(processName()));
  await until(() => calls.length === 3);
  await setImmediate();
  t.equal(await leases.find(name), undefined);
});

t.test('of what each host has for itself its own processes alone hold shares', async (t) => {
  const [records] = await openRecords(t);
  const elsewhere = `1.1@${'0'.repeat(12)}`;
  await records.ephemeral(async ({ leases, shares }) => {
    await leases.take(`process ${elsewhere}`, elsewhere, { ...ends, endsAt: '2026-03-01T12:00:01.000Z' });
    await shares.set({ name: 'downloads', holder: elsewhere, amount: 3 });
  });
  const heldOf = async (ofHost: boolean, at = now) => {
    const shares = createShares({ records, holder: processName(), now: at, ofHost });
    let held = 0;
    await shares.hold('downloads', (others) => ((held = others), 0));
    t.equal((await shares.others()).length, held === 0 ? 0 : 1);
    return held;
  };
  t.equal(await heldOf(true), 0);
  t.equal(await heldOf(false), 3);
  t.equal(await heldOf(false, () => new Date('2026-03-01T12:00:02Z')), 0, 'it has said nothing more');
  t.same(await records.shares.all(), [], "what it held is nobody's");
});
