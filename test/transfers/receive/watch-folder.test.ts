// A watched folder: transfers that a courier puts there are received without a command.
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';

import t from 'tap';

import { watchFolderJob } from '#appliance/watch/transfer-folder.ts';
import type { Current } from '#appliance/settings.ts';
import { changeConfig, readConfig } from '#configuration/config.ts';
import { createHealth } from '#platform/health.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { folder } from '#test/cli/process.ts';
import { tar, zip } from '#test/fixtures/packages/archives.ts';
import { kevCatalog, osvRecord } from '#test/fixtures/vulnerabilities/feeds.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { snapOf } from '#test/fixtures/packages/online-store.ts';
import type { OpenPart } from '#transfers/parts/open-part.ts';
import { fingerprintOf } from '#transfers/site.ts';
import { receiveComplete } from '#transfers/receive/watched-files.ts';
import { watchFolder } from '#transfers/receive/watch-folder.ts';
import { Refusal } from '#domain/refusal.ts';
import { example, goodNow, helloWith, partBytes, seedOf, written } from '../statement/example.ts';
import { offered, site } from '../sites.ts';

t.setTimeout(600_000);

/** A watched folder, and the transfers received from it. */
function watched(refuse: () => Error | undefined = () => undefined) {
  const path = folder(t);
  const taken: string[] = [];
  const problems: (string | undefined)[] = [];
  const take = async (parts: readonly OpenPart[]): Promise<void> => {
    taken.push(parts.map(({ part }) => String(part)).join());
    const error = refuse();
    if (error !== undefined) throw error;
  };
  const feeds: string[] = [];
  const takeFeed = (file: string): Promise<void> => {
    feeds.push(file.slice(path.length + 1));
    const error = refuse();
    return error === undefined ? Promise.resolve() : Promise.reject(error);
  };
  const look = watchFolder({
    folder: () => path,
    take: (files) => receiveComplete(files, { take, takeFeed, signal: new AbortController().signal }),
    report: (problem) => problems.push(problem),
  });
  return { path, taken, feeds, look, said: () => problems.at(-1) };
}

t.test('a transfer is received once, when all of its parts are there and complete', async (t) => {
  const { path, taken, look } = watched();
  const cut = example([Buffer.alloc(3e6, 'a')], { ...goodNow(), partSize: 2 * 1024 * 1024 });
  t.equal(cut.statement.parts.length, 2);
  const first = join(path, 'one.tar');
  writeFileSync(first, await partBytes(cut, 1));
  for (let looks = 0; looks < 3; looks++) t.same(await look(), {});
  t.same(taken, [], 'one part waits for the other');
  writeFileSync(join(path, 'two.tar'), await partBytes(cut, 2));
  t.same(await look(), {}, 'what has just come may still be written');
  t.same(await look(), { taken: 1 });
  t.same(taken, ['1,2']);
  for (let looks = 0; looks < 3; looks++) t.same(await look(), {});
  t.same(taken, ['1,2'], 'never the same twice');
  t.ok(existsSync(first), 'the files stay');
});

t.test('a feed is imported once, and a file that is neither a transfer nor a feed is ignored', async (t) => {
  const refusals: Refusal[] = [];
  const { path, taken, feeds, look, said: lastProblem } = watched(() => refusals.at(-1));
  const record = JSON.stringify(osvRecord({ id: 'USN-1-1', fixes: { 'Ubuntu:22.04:LTS openssl': '3' } }));
  writeFileSync(join(path, 'kev.json'), kevCatalog(['CVE-2026-1001']));
  writeFileSync(join(path, 'osv.zip'), zip({ 'README.md': 'words', 'USN-1-1.json': record, 'USN-2-1.json': record }));
  writeFileSync(join(path, 'osv.tar'), tar([{ name: 'osv/USN-1-1.json', content: record }]));
  writeFileSync(join(path, 'osv.tar.gz'), gzipSync(tar([{ name: 'osv/USN-1-1.json', content: record }])));
  writeFileSync(join(path, 'photos.zip'), zip({ 'one.jpg': 'a picture' }));
  writeFileSync(join(path, 'notes.json'), '{"to": "the captain"}');
  writeFileSync(join(path, 'torn.json'), '{"id": "USN');
  t.same(await look(), {}, 'they may still be written');
  t.same(await look(), { feeds: 4 });
  t.same([taken, feeds.sort()], [[], ['kev.json', 'osv.tar', 'osv.tar.gz', 'osv.zip']]);
  t.equal(lastProblem(), undefined);
  t.same(await look(), {});

  refusals.push(new Refusal('conflict', 'The feed is of 2026-01-01, older than the present feed.'));
  writeFileSync(join(path, 'kev.json'), kevCatalog(['CVE-2026-1002'], '2026-01-01T00:00:00Z'));
  await look();
  t.same(await look(), {});
  t.match(lastProblem(), /kev\.json in the watched folder was not received: The feed is of 2026-01-01, older/);
});

t.test('a file that is no transfer is reported; a refused transfer is tried again later', async (t) => {
  let refusal: Refusal | undefined = new Refusal('insufficient-storage', 'Make room first.');
  const { path, taken, look, said: lastProblem } = watched(() => refusal);
  writeFileSync(join(path, 'a.tar'), 'no transfer at all');
  writeFileSync(join(path, 'b.txt'), 'nothing of it');
  const [part = ''] = await written(example([Buffer.from('b')], goodNow()), folder(t));
  copyFileSync(part, join(path, 'c.tar'));
  await look();
  t.same(await look(), {});
  t.match(
    lastProblem(),
    /a\.tar in the watched folder was not received: It is .*c\.tar in the watched folder .*Make room first/,
  );
  t.equal(taken.length, 1);
  refusal = undefined;
  for (let looks = 0; looks < 200 && taken.length < 2; looks++) await look();
  t.equal(taken.length, 2, 'there is room now');
  t.match(lastProblem(), /a\.tar/);
  t.notMatch(lastProblem(), /c\.tar/);
  writeFileSync(join(path, 'a.tar'), readFileSync(part));
  utimesSync(join(path, 'a.tar'), 1, 1);
  await look();
  t.same(await look(), { taken: 1 }, 'another file under the same name is another file');
  t.equal(lastProblem(), undefined);
});

largeTest('an internal fault is reported, and the bytes received before it are not read again', async (t) => {
  const fault = new Error('the thread ended');
  const { path, taken, look } = watched(() => (taken.length === 2 ? fault : undefined));
  for (const name of ['one', 'two']) {
    const [part = ''] = await written(example([Buffer.from(name)], goodNow()), folder(t));
    copyFileSync(part, join(path, `${name}.tar`));
  }
  await look();
  await t.rejects(look(), { message: `cannot receive the transfers in ${path}: the thread ended` });
  t.equal(taken.length, 2);
  t.same(await look(), { taken: 1 }, 'it goes on where it was');
  t.equal(taken.length, 3);
});

t.test('transfers in the folder are accepted by the store itself, and waiting ones give the reason', async (t) => {
  const [path, stick, receiver] = [folder(t), folder(t), await site(t, 'site-a')];
  const { publicKey } = seedOf(1);
  const identity = join(stick, 'depot.json');
  writeFileSync(identity, JSON.stringify({ format: 1, site: 'depot', keys: [publicKey], threshold: 1 }));
  await receiver.done(`site trust ${identity} --fingerprint ${fingerprintOf([publicKey])[0] ?? ''} --accept automatic`);
  changeConfig(join(receiver.data, 'larder.toml'), { 'transfers.watch': path });
  const file = snapOf(offered('hello-on', 1));
  const packages = [{ ...helloWith([file]), name: 'hello-on', id: 'h'.repeat(32) }];
  const laid = async (sequence: number): Promise<void> => {
    const [part = ''] = await written(example([file], { ...goodNow(), sequence, packages }), folder(t));
    copyFileSync(part, join(path, `in-${String(sequence)}.tar`));
  };
  const health = createHealth({ error: () => undefined, info: () => undefined });
  const current = () => ({ config: readConfig(join(receiver.data, 'larder.toml')) }) as ReturnType<Current>;
  const { run } = watchFolderJob({ health, directory: receiver.data }, current, new AbortController().signal);
  await laid(1);
  await run();
  t.same(await run(), { taken: 1 });
  const [waits] = (await receiver.done('transfer list')).transfers;
  t.match(waits, { status: 'waiting', why: 'snap/hello-on is new here.', 'received-by': 'larder' });
  await receiver.done(`transfer accept ${waits.id} --yes`);
  await laid(2);
  await run();
  t.same(await run(), { taken: 1 });
  const came = (await receiver.done('transfer list')).transfers.find(
    (transfer: { sequence: number }) => transfer.sequence === 2,
  );
  t.match(came, { status: 'accepted', 'settled-by': 'larder' });
  writeFileSync(join(path, 'bad.tar'), 'nothing');
  await run();
  await run();
  t.match(
    await health.look(),
    [{ severity: 'notice', says: /bad\.tar in the watched folder was not received/ }],
    'the store is well all the same',
  );
  t.match(await receiver.done('transfer watch'), { taken: 2, files: { length: 3 }, fault: null });
});

largeTest('another thread receives it: the serving thread continues, and ends it at its own end', async (t) => {
  const [path, receiver, { anyone }] = [folder(t), await site(t, 'site-a'), await startStore(t)];
  changeConfig(join(receiver.data, 'larder.toml'), { 'transfers.watch': path });
  const current = () => ({ config: readConfig(join(receiver.data, 'larder.toml')) }) as ReturnType<Current>;
  const health = createHealth({ error: () => undefined, info: () => undefined });
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const letGo = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  t.teardown(letGo);
  const codes: Promise<unknown[]>[] = [];
  const start = (argv: readonly string[], options: WorkerOptions): Worker => {
    const how = { ...options, argv: [...argv], stdout: true, stderr: true, workerData: { gate } };
    const thread = new Worker(join(import.meta.dirname, 'held-command.ts'), how);
    codes.push(once(thread, 'exit'));
    return thread;
  };
  const ended = new AbortController();
  const { run } = watchFolderJob({ health, directory: receiver.data, start }, current, ended.signal);
  const lay = async (name: string): Promise<void> => {
    const [part = ''] = await written(example([Buffer.from(name)], goodNow()), folder(t));
    copyFileSync(part, join(path, `${name}.tar`));
    t.same(await run(), {}, 'it may still be written');
  };
  await lay('one');
  const looking = run();
  for (let count = 0; count < 3; count++) t.equal((await anyone.get('/metrics')).status, 200);
  t.same([codes.length, await health.look()], [1, []], 'nothing of it is done by whoever serves');
  letGo();
  t.same(await looking, {});
  t.match(await health.look(), [
    { says: /one\.tar in the watched folder was not received: The transfer comes from 'depot', and this site/ },
  ]);
  await lay('two');
  Atomics.store(gate, 0, 0);
  const last = run();
  while (codes.length < 2) await new Promise((resolve) => setImmediate(resolve));
  ended.abort();
  letGo();
  t.same(await last, {});
  t.same(await codes[1], [128 + constants.signals.SIGTERM], 'it was ended as by a signal, and waited for');
});

t.test('the store that serves looks into the folder', async (t) => {
  const metrics = String((await (await startStore(t)).anyone.get('/metrics')).body);
  t.match(metrics, /watch-transfers/);
});
