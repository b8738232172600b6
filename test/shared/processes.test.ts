// What a process that starts leaves to those that live, and takes from those that have died.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';

import { isAnotherRunning, processName, serveBeside, succeed } from '#shared/processes.ts';
import { openRecords } from '#test/fixtures/records.ts';

const program = `
  const { processName } = await import(process.argv[1]);
  process.stdout.write(processName());
  process.stdin.resume();`;

/** Another process, and what it is called. */
async function another(t: { teardown(work: () => unknown): void }) {
  const file = join(import.meta.dirname, '../../src/shared/processes.ts');
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill());
  const [name] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, name: name.toString() };
}

const ends = { now: '', endsAt: '9999', tooLate: '9999' };

t.test('the leases of the dead are ended, those of the living stay, and whoever starts again has none', async (t) => {
  const [records] = await openRecords(t);
  const { child, name } = await another(t);
  const take = (lease: string, holder: string) =>
    records.passing(({ leases }) => leases.take(lease, `${holder} 1`, ends));
  await take('living', name);
  await take('dead', '4194305.1');
  await take('before', `${child.pid!}.1`);
  await take('own', processName());
  t.same(await succeed(records), { isAlone: false });
  t.same(await records.leases.holders(), [`${name} 1`]);

  child.kill('SIGKILL');
  await once(child, 'exit');
  t.same(await succeed(records), { isAlone: true });
  t.same(await records.leases.holders(), []);
});

t.test('a process that serves beside another one is known until it ends', async (t) => {
  const [records] = await openRecords(t);
  const serving = await serveBeside(records);
  t.same(await records.leases.holders(), [processName()]);
  await serving.end();
  t.same(await records.leases.holders(), []);
});

t.test('a process is another one that runs as long as it runs', async (t) => {
  const { child, name } = await another(t);
  t.ok(isAnotherRunning(name));
  t.ok(isAnotherRunning(`${name} 12`));
  for (const none of ['', 'x', '1.', `${child.pid!}`, `${name}0`, processName()]) t.notOk(isAnotherRunning(none), none);
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.notOk(isAnotherRunning(name));
});
