// How several workers begin and end where something is wrong: as one process does, with a sentence and an exit code.
import { chmodSync, closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { newStore, serve, start } from '#test/cli/process.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import type { WorkerReport } from '#workers/messages.ts';
import { ask, serveByWorkers } from '#test/fixtures/processes/workers.ts';
import { until } from '#test/fixtures/until.ts';

const byTwo = (data: string): void => changeConfig(join(data, 'larder.toml'), { 'http.workers': 2 });

t.test('if the address is in use the server says so, and another server on the same data is refused', async (t) => {
  const { data } = await newStore(t);
  byTwo(data);
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  const refused = await start(t, ['serve', '--data', data, '--listen', `127.0.0.1:${port}`]).ended;
  t.match(refused, { code: 1, err: new RegExp(`^larder: cannot listen on 127\\.0\\.0\\.1:${port}: `, 'm') });

  const serving = await serveByWorkers(t, data);
  t.match(await start(t, ['serve', '--data', data]).ended, { code: 3, err: /in use by another larder/ });
  t.equal(await serving.stop(), 0);
});

t.test('workers that end again and again end the store', async (t) => {
  const { data } = await newStore(t);
  byTwo(data);
  const { ended, says } = await serve(t, data);
  const file = join(data, 'site.key');
  chmodSync(file, 0o600);
  writeFileSync(file, 'broken');
  const { workers } = JSON.parse(readFileSync(join(data, 'serving.json'), 'utf8')) as {
    workers: { each: { pid: number }[] };
  };
  process.kill(workers.each[1]!.pid, 'SIGKILL');
  const [, problem] = await says(/"worker":2,"problem":"([^"]+)","msg":"a worker cannot serve"/);
  t.match(problem, /^cannot use \S+site\.key: it does not hold a key of 32 bytes in base64/);
  const { code, err } = await ended;
  t.equal(code, 1);
  t.match(err, /^larder: no worker serves for long: the last one ended with exit code 1; the log says why$/m);
  await until(() => !workers.each.some(({ pid }) => existsSync(`/proc/${pid}`)));
});

t.test('a disk that fails under the write of one ends all of them', async (t) => {
  const { data, json } = await newStore(t);
  const { macaroon } = (await json('token issue --account larder-admin')) as { macaroon: string };
  const file = join(data, 'larder.db');
  const db = new SQLite(file, { readonly: true });
  const root = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'packages'").pluck().get() as number;
  db.close();
  byTwo(data);
  const { url, ended } = await serve(t, data);
  const disk = openSync(file, 'r+');
  writeSync(disk, Buffer.alloc(4096, 0xa5), 0, 4096, (root - 1) * 4096);
  closeSync(disk);
  const headers = { authorization: `Macaroon ${macaroon}` };
  const answer = ask(url, '/v1/snap', { method: 'POST', headers, body: { name: 'hello' } });
  t.not((await answer.catch(() => undefined))?.status, 200, 'what failed is not acknowledged');
  const { code, err } = await ended;
  t.equal(code, 1);
  t.match(err, /^larder: the disk failed under a write; serve this data again only from a good disk/m);
});

t.test('a second signal ends all of them at once', async (t) => {
  const { data } = await newStore(t);
  byTwo(data);
  const { url, child, ended, says } = await serve(t, data);
  const stuck = ask(url, '/internal/v1/changes?wait=60');
  const waiting = fetch(`${url}/unscanned-upload/`, {
    method: 'POST',
    duplex: 'half',
    headers: { 'content-type': 'multipart/form-data; boundary=f' },
    body: new ReadableStream({
      start: (stream) =>
        stream.enqueue(Buffer.from('--f\r\ncontent-disposition: form-data; name="binary"; filename="a"\r\n\r\nx')),
    }),
  });
  waiting.catch(() => undefined);
  await stuck;
  child.kill('SIGTERM');
  await says(/"msg":"stopping"/);
  await new Promise((resolve) => setTimeout(resolve, 600));
  child.kill('SIGTERM');
  t.match(await ended, { code: 1, err: /^larder: ended at once, without finishing the requests under way$/m });
  await t.rejects(waiting);
});

t.test('a new certificate is used by all workers, and reported once', async (t) => {
  const port = await freePort();
  const { data, json } = await newStore(t, `--base-url https://localhost:${port} --listen 127.0.0.1:${port}`);
  byTwo(data);
  const running = start(t, ['serve', '--data', data]);
  await running.says(/"workers":2,"msg":"serving"/);
  const names = async (): Promise<string[]> => {
    const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { subjectaltname: all = '' } = socket.getPeerCertificate();
    socket.destroy();
    return all.split(', ');
  };
  t.same([await names(), await names()], [['DNS:localhost'], ['DNS:localhost']]);
  changeConfig(join(data, 'larder.toml'), { 'tls.names': ['store'] });
  running.child.kill('SIGHUP');
  await until(() => (running.err().match(/"msg":"the server has a new certificate"/g) ?? []).length === 2);
  const both = [await names(), await names()];
  t.same(both, [
    ['DNS:localhost', 'DNS:store'],
    ['DNS:localhost', 'DNS:store'],
  ]);
  const { entries } = (await json('audit list --action renew_certificate')) as { entries: unknown[] };
  t.equal(entries.length, 1);
  running.child.kill('SIGTERM');
  t.match(await running.ended, { code: 0 });
});

t.test('a worker of another release than what serves refuses, and changes nothing', async (t) => {
  const { data } = await newStore(t);
  const before = readFileSync(join(data, 'larder.db'));
  const main = join(import.meta.dirname, '../../src/main.ts');
  const child = fork(main, ['serve', '--data', data], {
    env: { ...process.env, NODE_OPTIONS: '', LARDER_WORKER: '1' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const reports: WorkerReport[] = [];
  child.on('message', (report: WorkerReport) => {
    reports.push(report);
    const role = { version: '0.0.1', number: 1, size: 2, begins: false, keeps: false };
    if (report.report === 'here') child.send({ order: 'begin', ...role });
  });
  t.same(await once(child, 'exit'), [1, null]);
  t.match(reports, [
    { report: 'here' },
    { report: 'failed', problem: /^larder 0\.0\.1 serves this store, and .* start the store again$/, atOnce: false },
  ]);
  t.ok(readFileSync(join(data, 'larder.db')).equals(before));
});
