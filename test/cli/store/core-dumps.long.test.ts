// Files that a crash leaves.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { leavesMemory } from '#platform/core-dumps.ts';
import { fakeManager } from '#test/assertions/keys/fake-manager.ts';
import { vectorKey } from '#test/assertions/vectors.ts';
import { newBrandStore } from '#test/cli/brands/brand-store.ts';
import { kill } from '#test/fixtures/processes/kill.ts';
import { until } from '#test/fixtures/until.ts';
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
    findings.find(({ what: name }) => name === 'Core dumps'),
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

/** Serves a store that may write core dumps, in a folder for them. */
async function serveWithDumps(t: Test, data: string, place: string) {
  const main = join(import.meta.dirname, '../../../src/main.ts');
  const line = ['ulimit -c unlimited; cd "$0"; exec env -u NODE_OPTIONS "$@"', place, process.execPath, main];
  const child = spawn('sh', ['-c', ...line, 'serve', '--data', data, '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => kill(child));
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  while (!output.includes('"msg":"serving"')) await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
  return { child, url: /"url":"([^"]+)"/.exec(output)?.[1] ?? '' };
}

const dumpIn = (place: string): Buffer | undefined =>
  readdirSync(place)
    .filter((name) => name.startsWith('core'))
    .map((name) => readFileSync(join(place, name)))[0];

function containsNoKeyOf(t: Test, core: Buffer, data: string): void {
  t.ok(core.length < 8 * 1024 * 1024, `it has ${String(core.length)} bytes`);
  for (const name of ['site.key', 'master.key']) {
    const text = readFileSync(join(data, name), 'latin1').trim();
    for (const part of [Buffer.from(text), Buffer.from(text, 'base64')]) t.notOk(core.includes(part), name);
  }
}

t.test('the core dump of a crashed server contains no key', { skip: skip || elsewhere }, async (t) => {
  const { data } = await newStore(t);
  const place = folder(t);
  const { child } = await serveWithDumps(t, data, place);
  child.kill('SIGABRT');
  await once(child, 'close');
  const core = dumpIn(place);
  if (core === undefined) t.comment('this machine writes no core dumps');
  else containsNoKeyOf(t, core, data);
});

t.test(
  'core dumps of a server that signs, and of its key manager, contain no key and no PIN',
  { skip: skip || elsewhere },
  async (t) => {
    const pin = 'PIN-4711-of-the-token';
    const store = await newBrandStore(t);
    const places = { server: folder(t), manager: folder(t), control: folder(t) };
    const hangs = join(places.manager, 'hangs');
    // A key manager that hangs while it has the PIN, where the variable PLACE or the folder of its dumps says.
    const script = join(store.files, 'manager');
    writeFileSync(
      script,
      `#!/bin/sh\ncd "\${PLACE:-${places.manager}}"\ncase $1 in\n` +
        `features) echo '{"signing": ["RSA-PKCS"], "public-keys": ["DER"]}' ;;\n` +
        `sign) export PIN='${pin}'; echo $$ >hangs; exec sleep 600 ;;\nesac\n`,
      { mode: 0o755 },
    );
    const key = vectorKey('rsa4096-c');
    const { path } = fakeManager(t, { serials: key.privateKey });
    const configuration = join(store.data, 'larder.toml');
    changeConfig(configuration, { 'keys.manager': path, 'keys.timeout_seconds': 120 });
    t.match(await store.larder('key create my-brand serials --in-manager serials'), { code: 0 });
    changeConfig(configuration, { 'keys.manager': script });

    const control = spawn('sh', ['-c', 'ulimit -c unlimited; exec "$@"', 'sh', script, 'sign'], {
      env: { ...process.env, PLACE: places.control },
      stdio: 'ignore',
    });
    await until(() => existsSync(join(places.control, 'hangs')) && isSleep(control.pid ?? 0));
    control.kill('SIGSEGV');
    await once(control, 'close');
    const evidence = dumpIn(places.control);
    if (evidence === undefined) {
      t.comment('this machine writes no core dumps');
      return;
    }
    t.ok(evidence.includes(pin), 'without the settings of the server the dump would have the PIN');

    const { child, url } = await serveWithDumps(t, store.data, places.server);
    const { macaroon } = (await store.json('token issue --account my-brand')) as { macaroon: string };
    const request = (id: string) =>
      fetch(`${url}/v1/brand/my-brand/signing_key/${id}/account-key-request`, {
        method: 'POST',
        headers: { authorization: `Macaroon ${macaroon}` },
      }).then(({ status }) => status);
    const sealed = vectorKey('rsa4096-a');
    t.equal(await request(sealed.id), 200, 'a key of the store is in memory');
    const pending = request(key.id);
    const pidOfManager = (): number => (existsSync(hangs) ? Number(readFileSync(hangs, 'utf8')) : 0);
    await until(() => pidOfManager() > 0 && isSleep(pidOfManager()));
    process.kill(pidOfManager(), 'SIGSEGV');
    t.equal(await pending, 503);
    const ofManager = dumpIn(places.manager);
    t.ok(ofManager, 'the key manager has left a dump');
    t.notOk(ofManager?.includes(pin), 'without the PIN');

    rmSync(hangs);
    const lost = request(key.id).catch(() => undefined);
    await until(() => pidOfManager() > 0);
    child.kill('SIGABRT');
    await once(child, 'close');
    await lost;
    const ofServer = dumpIn(places.server);
    if (ofServer === undefined) throw new Error('the server has left no dump');
    containsNoKeyOf(t, ofServer, store.data);
    t.notOk(ofServer.includes(pin));
    const { p = '', q = '', d = '' } = sealed.privateKey.export({ format: 'jwk' });
    for (const number of [p, q, d].map((text) => Buffer.from(text, 'base64url')))
      for (const order of [number, Buffer.from(number).reverse()]) t.notOk(ofServer.includes(order.subarray(8, 72)));
  },
);

/** Whether the script has become the program that hangs. */
const isSleep = (pid: number): boolean => {
  try {
    return readFileSync(`/proc/${String(pid)}/comm`, 'latin1') === 'sleep\n';
  } catch {
    return false;
  }
};
