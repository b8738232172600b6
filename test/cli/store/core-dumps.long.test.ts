// Files that a crash leaves.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { leavesMemory } from '#platform/core-dumps.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { folder, newStore, serve } from '#test/cli/process.ts';

const isLinux = existsSync('/proc/self/coredump_filter');
const skip = !isLinux && 'only Linux says what goes into a core dump';

t.test('a server keeps its memory out of core dumps, for every kind of start', { skip }, async (t) => {
  const { data, larder } = await newStore(t);
  const { child } = await serve(t, data);
  t.match(readFileSync(`/proc/${String(child.pid)}/coredump_filter`, 'latin1'), /^0+\n$/);
  t.equal(leavesMemory(child.pid ?? 0), false);
  t.match(await larder('doctor'), { out: /ok +Core dumps: a crash leaves nothing of the memory/ });
});

t.test('doctor warns of a server that would leave keys in a core file', { skip }, async (t) => {
  const { data, larder, json } = await newStore(t);
  const { child } = await serve(t, data);
  const limits = (core: string) => spawnSync('prlimit', ['--pid', String(child.pid), `--core=${core}`]).status === 0;
  writeFileSync(`/proc/${String(child.pid)}/coredump_filter`, '0x33');
  if (limits('0:unlimited')) t.match(await larder('doctor'), { out: /ok +Core dumps/ }, 'nor where the limit is zero');
  if (!limits('unlimited')) {
    t.comment('the limit of core dumps cannot be raised here');
    return;
  }
  t.equal(leavesMemory(child.pid ?? 0), true);
  t.match(await larder('doctor'), {
    code: 1,
    out: /WRONG Core dumps: a crash would leave the memory of the server in a file.*\n +Start it with core dumps off: LimitCORE=0/,
  });
  const { findings } = (await json('doctor')) as { findings: { what: string; good: boolean }[] };
  t.match(
    findings.find(({ what }) => what === 'Core dumps'),
    { good: false },
  );
  return undefined;
});

t.test('an unknown setting gives no warning', (t) => {
  t.equal(leavesMemory(2 ** 30), undefined);
  t.end();
});

const pattern = isLinux ? readFileSync('/proc/sys/kernel/core_pattern', 'latin1') : '|';
const elsewhere = /[|/]/.test(pattern) && 'core dumps of this machine go elsewhere';

t.test('the core dump of a crashed server contains no key', { skip: skip || elsewhere }, async (t) => {
  const { data } = await newStore(t);
  const place = folder(t);
  const main = join(import.meta.dirname, '../../../src/main.ts');
  const line = ['ulimit -c unlimited; cd "$0"; exec env -u NODE_OPTIONS "$@"', place, process.execPath, main];
  const child = spawn('sh', ['-c', ...line, 'serve', '--data', data, '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => kill(child));
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  while (!said.includes('"msg":"serving"')) await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
  child.kill('SIGABRT');
  await once(child, 'close');
  const [core] = readdirSync(place).map((name) => readFileSync(join(place, name)));
  if (core === undefined) {
    t.comment('this machine writes no core dumps');
    return;
  }
  t.ok(core.length < 8 * 1024 * 1024, `it has ${String(core.length)} bytes`);
  for (const name of ['site.key', 'master.key']) {
    const text = readFileSync(join(data, name), 'latin1').trim();
    for (const part of [Buffer.from(text), Buffer.from(text, 'base64')]) t.notOk(core.includes(part), name);
  }
  return undefined;
});
