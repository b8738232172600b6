// larder serve
import t from 'tap';
import SQLite from 'better-sqlite3';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeConfig } from '#configuration/config.ts';
import { newStore, serve, start } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { largeTest } from '#test/fixtures/large.ts';

const exchange = (url: string, macaroon: string) =>
  fetch(`${url}/v1/tokens/offline/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ macaroon }),
  });

t.test('a client waits until the store is served; after kill -9 it serves the acknowledged data again', async (t) => {
  const { data, larder: run, json } = await newStore(t);
  const { id } = (await json(
    "account create --email ada@example.org --username ada --display-name 'Ada Lovelace'",
  )) as { id: string };
  const { macaroon } = (await json(`token issue --account ${id}`)) as { macaroon: string };
  const headers = { authorization: `Macaroon ${macaroon}`, 'content-type': 'application/json' };
  t.match(await run('ready --timeout 1s'), { code: 7, out: 'The store is not served yet.\n' });
  const { child, says, ended } = start(t, ['serve', '--data', data, '--listen', '127.0.0.1:0']);
  t.match(await run(`ready --process ${child.pid}`), { code: 0, out: /^The store is served since 2/ });
  const [, first = ''] = await says(/"url":"([^"]+)"/);
  t.match(await run('ready --timeout 1s --json'), { code: 0, out: /"ready":true/ });
  const registered = await fetch(`${first}/v1/snap`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'hello' }),
  });
  t.equal(registered.status, 200);
  child.kill('SIGKILL');
  t.match(await ended, { signal: 'SIGKILL' });
  t.match(await run(`ready --process ${child.pid}`), {
    code: 1,
    err: /^larder: process \d+ has ended, and does not serve/,
  });
  t.match(await run('ready --timeout 1s'), { code: 7 });

  const { url } = await serve(t, data);
  const { results } = (await (await fetch(`${url}/v1/snap`, { headers })).json()) as { results: { name: string }[] };
  t.strictSame(
    results.map(({ name }) => name),
    ['hello'],
    'without anybody doing anything',
  );
});

/** Sends the beginning of an upload; `finish` sends the rest, and gives the answer. */
async function slowUpload(url: string): Promise<{ finish: () => Promise<{ status: number; body: string }> }> {
  const boundary = 'larder';
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="binary"; filename="a"\r\n\r\nhalf`;
  const tail = `another half\r\n--${boundary}--\r\n`;
  const sent = request(`${url}/unscanned-upload/`, {
    method: 'POST',
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + tail.length,
      connection: 'keep-alive',
    },
  });
  const answered = once(sent, 'response');
  answered.catch(() => undefined);
  sent.write(head);
  await sleep(200);
  return {
    async finish() {
      sent.end(tail);
      const [response] = (await answered) as [IncomingMessage];
      const chunks = await response.setEncoding('utf8').toArray();
      return { status: response.statusCode ?? 0, body: chunks.join('') };
    },
  };
}

t.test('it serves until it is stopped, and finishes the current requests', async (t) => {
  const { data } = await newStore(t);
  const { url, child, ended, err, says } = await serve(t, data, '--json');

  const second = await larder(`serve --data ${data} --json`);
  t.match(second, { code: 3, out: '' }, 'a second one on the same data is refused at once');
  t.strictSame(JSON.parse(second.err), {
    error: `the data directory ${data} is in use by another larder`,
    code: 'data-in-use',
  });
  const credential = readFileSync(join(data, 'admin.macaroon'), 'utf8');
  t.equal((await exchange(url, credential)).status, 200, 'meanwhile the first one serves');

  const upload = await slowUpload(url);
  child.kill('SIGTERM');
  await says(/"msg":"stopping"/);
  await t.rejects(fetch(`${url}/healthz`), 'new requests are not accepted');
  const { status, body } = await upload.finish();
  t.strictSame([status, (JSON.parse(body) as { successful: boolean }).successful], [200, true]);
  const { code, out } = await ended;
  t.strictSame([code, JSON.parse(out)], [0, { data, signal: 'SIGTERM' }], 'it says which signal ended it');
  for (const line of err().trim().split('\n')) t.doesNotThrow(() => void JSON.parse(line), line);
  t.match(err(), '"msg":"stopped"', 'the log is whole');
  t.notMatch(err(), credential.trim(), 'and does not have the credential');
  t.notOk(err().includes('larder-admin-'));
});

largeTest('a second signal ends it at once, except the echo of the first that npm sends', async (t) => {
  const { data } = await newStore(t);
  const { url, child, ended, says } = await serve(t, data);
  const upload = await slowUpload(url);
  child.kill('SIGINT');
  child.kill('SIGINT');
  await says(/"msg":"stopping"/);
  await sleep(700);
  t.equal(child.exitCode, null, 'still finishing');
  child.kill('SIGINT');
  const { code, err } = await ended;
  t.equal(code, 1);
  t.match(err, /^larder: ended at once, without finishing the requests under way$/m);
  await t.rejects(upload.finish());
});

largeTest('when the disk fails under a write it ends at once, with an error', async (t) => {
  const { data, json } = await newStore(t);
  const { macaroon } = (await json('token issue --account larder-admin')) as { macaroon: string };
  const file = join(data, 'larder.db');
  const db = new SQLite(file, { readonly: true });
  const { page } = db.prepare("SELECT rootpage AS page FROM sqlite_master WHERE name = 'packages'").get() as {
    page: number;
  };
  db.close();
  const { url, ended } = await serve(t, data);
  const disk = openSync(file, 'r+');
  writeSync(disk, Buffer.alloc(4096, 0xa5), 0, 4096, (page - 1) * 4096);
  closeSync(disk);

  const headers = { authorization: `Macaroon ${macaroon}`, 'content-type': 'application/json' };
  const answer = fetch(`${url}/v1/snap`, { method: 'POST', headers, body: JSON.stringify({ name: 'hello' }) });
  t.not((await answer.catch(() => undefined))?.status, 200, 'what failed is not acknowledged');
  const { code, err } = await ended;
  t.equal(code, 1);
  t.match(
    err,
    /^larder: the disk failed under a write; serve this data again only from a good disk: the database \S+ is damaged/m,
  );
});

t.test('SIGHUP makes a good configuration count, and a bad one is refused with its line', async (t) => {
  const { data, json } = await newStore(t);
  const configuration = join(data, 'larder.toml');
  const { url, child, says, err } = await serve(t, data);
  const credential = readFileSync(join(data, 'admin.macaroon'), 'utf8');

  t.match(await json('admin-macaroon'), { 'reload-needed': false });
  const renewed = readFileSync(join(data, 'admin.macaroon'), 'utf8');
  await says(/"msg":"configuration reloaded"/);
  t.equal((await exchange(url, renewed)).status, 200);
  t.equal((await exchange(url, credential)).status, 401, 'the old one is no longer good');

  const good = readFileSync(configuration, 'utf8');
  changeConfig(configuration, { 'store.offline_mode': false });
  writeFileSync(configuration, readFileSync(configuration, 'utf8').replace('[http]', '[http]\nbase_ulr = "x"'));
  child.kill('SIGHUP');
  await says(/"msg":"configuration refused; the old one stays"/);
  t.match(err(), /"problem":"[^"]*larder\.toml:\d+: unknown key 'base_ulr' in \[http\]; did you mean 'base_url'\?"/);
  t.equal((await exchange(url, renewed)).status, 200, 'the whole of the old one stays');

  const key = join(data, 'wrong.key');
  writeFileSync(key, 'too short');
  writeFileSync(configuration, good);
  changeConfig(configuration, { 'keys.master_key_file': key, 'store.offline_mode': false });
  child.kill('SIGHUP');
  await says(/cannot use \S+wrong\.key: it does not hold a key of 32 bytes in base64/);
  t.equal((await exchange(url, renewed)).status, 200, 'also when it is the key that cannot be used');

  writeFileSync(configuration, good);
  changeConfig(configuration, { 'uploads.reserve': '2 GiB', 'http.listen': '127.0.0.1:8099', 'log.level': 'warn' });
  child.kill('SIGHUP');
  await says(/"keys":\["uploads\.reserve"\],"msg":"changed, but only a restart makes it count"/);
});

t.test('a store that cannot be served is refused with a sentence', async (t) => {
  const { data } = await newStore(t);
  const none = await larder(`serve --data ${data}/none`);
  t.match(none, { code: 1, err: /^larder: there is no store in .*; 'larder init --data .*' makes one\n$/ });
  const other = createServer().listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const host = `127.0.0.1:${(other.address() as AddressInfo).port}`;
  const taken = await larder(`serve --data ${data} --listen ${host}`);
  t.match(taken, {
    code: 1,
    err: `cannot listen on ${host}: another program listens there; stop it, or listen elsewhere with --listen or http.listen\n`,
  });
  t.match(await larder(`serve --data ${data} --listen nonsense`), { code: 2, err: /^larder: --listen is HOST:PORT/ });
});
