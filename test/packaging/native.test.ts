import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

import Database from 'better-sqlite3';
import t from 'tap';

import { loadNative, nativeBinding, nativeBindingAt, nativePath } from '#platform/native.ts';

const lib = dirname(createRequire(import.meta.url).resolve('better-sqlite3'));
const bytes = readFileSync(join(lib, `../prebuilds/linux-${process.arch}.node`));

function answers({ binding }: { binding: object }): boolean {
  const database = new Database(':memory:', { nativeBinding: binding as unknown as string });
  const row = database.prepare('SELECT 1 + 1 AS two').get();
  database.close();
  return JSON.stringify(row) === '{"two":2}';
}

// The loader of the C library recognizes a loaded module by its path, /proc/self/fd/N, so the failing cases come first.

t.test('a directory of another user is not trusted', (t) => {
  const directory = t.testdir();
  const ours = join(directory, `larder-native-${String(process.geteuid?.())}`);
  mkdirSync(ours);
  chmodSync(ours, 0o777);
  // Not a module at all, so that the unnamed file cannot be loaded and the private directory has its turn.
  t.throws(() => loadNative(Buffer.from('?'), '/none', [directory]), { message: /not a directory of ours alone/ });
  t.notOk(existsSync(join(ours, 'x')));
  t.end();
});

t.test('when nothing works the message names every place and the way out', (t) => {
  const directory = t.testdir();
  t.throws(() => loadNative(Buffer.from('not a module'), '/none', [directory, '/proc/1/none']), {
    message: /^cannot load the SQLite module: .*LARDER_NATIVE_DIR.*Tried: .*\/none.*file too short.*\/proc\/1\/none/s,
  });
  t.end();
});

t.test('in a checkout better-sqlite3 finds its own module', (t) => {
  t.equal(nativeBinding(), undefined);
  t.equal(nativeBindingAt(nativePath()), undefined);
  t.end();
});

t.test('the module is loaded from an unnamed file, which leaves nothing behind', (t) => {
  const directory = t.testdir();
  t.ok(answers(loadNative(bytes, join(directory, 'none'), [directory])));
  t.same(readdirSync(directory), []);
  t.end();
});

t.test('the first directory that can be used is used', (t) => {
  const directory = t.testdir({ good: {} });
  t.ok(answers(loadNative(bytes, '/none', ['/proc/1/none', join(directory, 'none'), join(directory, 'good')])));
  t.end();
});

t.test('an installed copy is used only when it is the same module', (t) => {
  const directory = t.testdir({ 'same.node': '', 'other.node': 'another module', work: {} });
  writeFileSync(join(directory, 'same.node'), bytes);
  chmodSync(join(directory, 'same.node'), 0o644);
  if (statSync(directory).uid === 0) t.ok(answers(loadNative(bytes, join(directory, 'same.node'), [])));
  t.throws(() => loadNative(bytes, join(directory, 'other.node'), []), { message: /other\.node: (belongs|not root)/ });
  chmodSync(join(directory, 'same.node'), 0o666);
  t.throws(() => loadNative(bytes, join(directory, 'same.node'), []), { message: /not root's alone/ });
  t.end();
});

t.test('another thread gets the very same module, not a second SQLite in the process', async (t) => {
  const { path } = loadNative(bytes, '/none', [t.testdir()]);
  const mappings = (): number => (readFileSync('/proc/self/maps', 'utf8').match(/ r-xp .*\/#\d+ /g) ?? []).length;
  const before = mappings();
  t.ok(before > 0);
  const native = import.meta.resolve('#platform/native.ts');
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.native).then(({ nativeBindingAt }) => {
      const SQLite = require(workerData.sqlite);
      const db = new SQLite(':memory:', { nativeBinding: nativeBindingAt(workerData.path) });
      parentPort.postMessage(db.prepare('SELECT 1 + 1').pluck().get());
    });`;
  const worker = new Worker(code, { eval: true, workerData: { native, path, sqlite: join(lib, '..') } });
  const [two] = (await once(worker, 'message')) as [number];
  t.equal(two, 2);
  t.equal(mappings(), before);
  await worker.terminate();
});
