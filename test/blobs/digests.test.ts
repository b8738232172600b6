import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { appendFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import t from 'tap';
import { createDigestPool, type DigestAlgorithm } from '#blobs/digests.ts';
import { digest, startDigestWorker, temporaryFolder } from './store.ts';

const algorithms: DigestAlgorithm[] = ['sha3-384', 'sha256', 'sha384', 'sha512'];
const entry = join(import.meta.dirname, '../../src/blobs/digest-worker.ts');

t.test('the digests of a file are those of its bytes', async (t) => {
  const pool = createDigestPool(startDigestWorker, 1);
  t.teardown(() => pool.close());
  const path = join(await temporaryFolder(t), 'file');
  for (const size of [0, 1, 256 * 1024, 5 * 1024 * 1024 + 7]) {
    const bytes = randomBytes(size);
    await writeFile(path, bytes);
    const expected = Object.fromEntries(algorithms.map((algorithm) => [algorithm, digest(algorithm, bytes)]));
    t.same(await pool.ofFile(path, algorithms), expected, `of ${size} bytes`);
  }
});

t.test('an existing file is read once, for any number of digests', async (t) => {
  const pool = createDigestPool(startDigestWorker, 2);
  t.teardown(() => pool.close());
  const path = join(await temporaryFolder(t), 'file');
  const size = 24 * 1024 * 1024;
  await writeFile(path, randomBytes(size));
  await pool.ofFile(path, ['sha256']);
  const before = bytesRead();
  await pool.ofFile(path, ['sha384', 'sha512']);
  const read = bytesRead() - before;
  t.ok(read >= size && read < size * 1.1, `${read} bytes were read of ${size}`);
});

/** How many bytes this process and its threads have read so far. */
const bytesRead = (): number => Number(/^rchar: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

t.test('a file is followed while it grows, and several at once', async (t) => {
  const pool = createDigestPool(startDigestWorker, 2);
  t.teardown(() => pool.close());
  const folder = await temporaryFolder(t);
  await Promise.all(
    Array.from({ length: 5 }, async (_, nth) => {
      const path = join(folder, String(nth));
      await writeFile(path, '');
      const file = pool.follow(path, ['sha256']);
      const chunks = Array.from({ length: 20 }, () => randomBytes(30_000 + nth));
      let size = 0;
      for (const chunk of chunks) {
        await appendFile(path, chunk);
        await file.grown((size += chunk.length));
      }
      t.same(await file.end(), { sha256: digest('sha256', ...chunks) });
    }),
  );
});

t.test('writing waits for hashing that is far behind', async (t) => {
  const pool = createDigestPool(startDigestWorker, 1);
  t.teardown(() => pool.close());
  const path = join(await temporaryFolder(t), 'file');
  const size = 160 * 1024 * 1024;
  await writeFile(path, '');
  await truncate(path, size);
  const file = pool.follow(path, ['sha256']);
  let caughtUp = false;
  const grown = file.grown(size).then(() => (caughtUp = true));
  await new Promise(setImmediate);
  t.equal(caughtUp, false);
  await grown;
  t.same(await file.end(), { sha256: digest('sha256', Buffer.alloc(size)) });
});

t.test('threads are started on demand, and never more than the limit', async (t) => {
  let started = 0;
  const pool = createDigestPool((options) => {
    started += 1;
    return startDigestWorker(options);
  }, 2);
  t.teardown(() => pool.close());
  const path = join(await temporaryFolder(t), 'file');
  await writeFile(path, 'hello');
  t.equal(started, 0);
  await pool.ofFile(path, ['sha256']);
  await pool.ofFile(path, ['sha256']);
  t.equal(started, 1);
  await pool.ofFile(path, ['sha3-384', 'sha256']);
  t.equal(started, 1, 'a file that is there is read once, by one thread');
  const small = pool.follow(path, ['sha3-384', 'sha256'], { small: true });
  await small.grown(5);
  t.same(await small.end(), await pool.ofFile(path, ['sha3-384', 'sha256']));
  pool.follow(path, ['sha3-384', 'sha256'], { small: true }).abandon();
  t.equal(started, 1, 'and so is a small one that grows');
  await pool.follow(path, ['sha3-384', 'sha256']).end();
  t.equal(started, 2, 'two algorithms over a file that grows share two threads');
  await Promise.all(Array.from({ length: 8 }, () => pool.ofFile(path, ['sha256'])));
  t.equal(started, 2);
});

t.test('a thread that dies fails its files, and another takes its place', async (t) => {
  const workers: Worker[] = [];
  const pool = createDigestPool((options) => {
    const worker = startDigestWorker(options);
    workers.push(worker);
    return worker;
  }, 1);
  t.teardown(() => pool.close());
  const path = join(await temporaryFolder(t), 'file');
  await writeFile(path, 'hello');

  const file = pool.follow(path, ['sha256']);
  const far = pool.follow(path, ['sha256']);
  const waiting = far.grown(1e12);
  await file.grown(5);
  await Promise.all([t.rejects(waiting, { message: 'cannot compute the digests of a file' }), workers[0]?.terminate()]);
  await t.rejects(file.end(), { message: 'cannot compute the digests of a file' });
  await t.rejects(file.grown(6), { message: 'cannot compute the digests of a file' });
  file.abandon();

  t.same(await pool.ofFile(path, ['sha256']), { sha256: digest('sha256', Buffer.from('hello')) });
  t.equal(workers.length, 2);
});

t.test('without a thread nothing is left behind', async (t) => {
  const workers: Worker[] = [];
  const pool = createDigestPool((options) => {
    if (workers.length > 0) throw new Error('no more threads');
    workers.push(startDigestWorker(options));
    return workers[0] as Worker;
  }, 2);
  t.teardown(() => pool.close());
  const path = join(await temporaryFolder(t), 'file');
  await writeFile(path, 'hello');
  t.throws(() => pool.follow(path, ['sha3-384', 'sha256']), { message: 'no more threads' });
  t.same(await pool.ofFile(path, ['sha256']), { sha256: digest('sha256', Buffer.from('hello')) });
});

t.test('a file that is missing or shorter than announced has no digests', async (t) => {
  const pool = createDigestPool(startDigestWorker, 1);
  t.teardown(() => pool.close());
  const folder = await temporaryFolder(t);
  await t.rejects(pool.follow(join(folder, 'missing'), ['sha256']).end(), {
    message: 'cannot compute the digests of a file',
    cause: { message: /ENOENT/ },
  });
  await writeFile(join(folder, 'short'), 'hello');
  const short = pool.follow(join(folder, 'short'), ['sha256']);
  await short.grown(6);
  await t.rejects(short.end(), { cause: { message: 'the file ends at 5 bytes and should have 6' } });
});

t.test('nothing is hashed after the pool is closed', async (t) => {
  const pool = createDigestPool(startDigestWorker, 1);
  const path = join(await temporaryFolder(t), 'file');
  await writeFile(path, 'hello');
  const file = pool.follow(path, ['sha256']);
  const waiting = file.grown(1e12);
  await Promise.all([t.rejects(waiting), pool.close()]);
  t.throws(() => pool.follow(path, ['sha256']), { message: /threads are closed/ });
});

t.test('an idle pool lets the process end, a busy one is waited for', async (t) => {
  const path = join(await temporaryFolder(t), 'file');
  await writeFile(path, randomBytes(1_000_000));
  const program = join(import.meta.dirname, 'digest-of-file.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, path], { timeout: 300_000 });
  t.match(stdout, /^[0-9a-f]{64}\n$/);
});

t.test('a file that is let go of while the pool is being closed does not end the process there', async (t) => {
  const path = join(await temporaryFolder(t), 'file');
  await writeFile(path, 'hello');
  const program = join(import.meta.dirname, 'closing-pool.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, path]);
  t.equal(stdout, 'closed\n');
});

t.test('the thread also runs from a single CommonJS text', async (t) => {
  const bundle = await build({ entryPoints: [entry], bundle: true, platform: 'node', format: 'cjs', write: false });
  const code = bundle.outputFiles[0]?.text ?? '';
  const start = (options?: WorkerOptions): Worker => new Worker(code, { ...options, eval: true });
  const pool = createDigestPool(start, 1);
  t.teardown(() => pool.close());
  const path = join(await temporaryFolder(t), 'file');
  await writeFile(path, 'hello');
  t.same(await pool.ofFile(path, ['sha3-384']), { 'sha3-384': digest('sha3-384', Buffer.from('hello')) });
});
