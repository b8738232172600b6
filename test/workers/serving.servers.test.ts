// Several workers serve one store: a change at one shows at all, a dead worker is replaced, and from outside they are
// one.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import t from 'tap';

import { changeConfig, readConfig } from '#configuration/config.ts';
import { commandsOn } from '#test/cli/process.ts';
import { examplesIn } from '#test/fixtures/guides.ts';
import { dataFolder, larder } from '#test/fixtures/processes/served.ts';
import { until } from '#test/fixtures/until.ts';
import { serveByWorkers } from '#test/fixtures/processes/workers.ts';

const data = dataFolder(t);
await larder('init', '--data', data);
const commands = commandsOn(data);

/** The lines of the administrator's guide. */
const [change, restart, ...looks] = examplesIn('administrator', 'Several workers', 1).flat();
execFileSync('/bin/sh', ['-c', change!.replace('/var/lib/larder', data)]);
const configured = readConfig(join(data, 'larder.toml')).http.workers;
const store = await serveByWorkers(t, data);
const { ask, askEach, workerOf } = store;
const lines = (pattern: RegExp): number => (store.log().match(new RegExp(pattern, 'g')) ?? []).length;
/** A figure of the page, as each worker says; one where they agree. */
const figures = async (name: string): Promise<number[]> => {
  const line = new RegExp(`^${RegExp.escape(name)} (\\S+)$`, 'm');
  const values = (await askEach('/metrics')).map(({ text }) => Number(line.exec(text)?.[1] ?? NaN));
  return [...new Set(values)];
};
const healthz = 'larder_requests_total{operation="healthz",status="200"}';

t.test('they say that they serve when all of them do, and take turns', async (t) => {
  t.same([configured, restart], [2, 'systemctl restart larder'], 'by what the guide says to type');
  t.match(store.log(), /"workers":2,"msg":"serving"\}/);
  t.match((await ask('/readyz')).body, { status: 'ok', notices: [], workers: { serving: 2, wanted: 2 } });
  const turns: number[] = [];
  for (let turn = 0; turn < 6; turn++) turns.push(await workerOf((await ask('/healthz')).requestId));
  // A worker that is slow to accept the last connection may be passed over.
  t.ok(turns.filter((worker, at) => worker !== turns[at - 1]).length >= 4, turns.join());
  for (const line of store.log().trim().split('\n')) t.doesNotThrow(() => void JSON.parse(line), line);
});

t.test('the metrics of any worker include those of all', async (t) => {
  t.same(await figures(healthz), [6]);
  t.same(await figures('larder_workers_serving'), [2]);
  t.same(await figures('larder_workers'), [2]);
  t.same(await figures('larder_accounts'), [1], 'what is the same for all is not added up');
});

t.test('the next request at each worker sees the change of a command beside them', async (t) => {
  const account = (await commands.json('account create --email ada@example.org --username ada --display-name Ada')) as {
    id: string;
  };
  const { macaroon } = (await commands.json(`token issue --account ${account.id}`)) as { macaroon: string };
  const headers = { authorization: `Macaroon ${macaroon}` };
  const whoami = async (): Promise<number[]> => [
    ...new Set((await askEach('/v1/tokens/whoami', { headers })).map(({ status }) => status)),
  ];
  t.same(await whoami(), [200]);
  const registered = await ask('/v1/snap', { method: 'POST', headers, body: { name: 'hello' } });
  t.equal(registered.status, 200);
  for (const { body } of await askEach('/v1/snap/hello', { headers })) {
    t.match(body, { metadata: { id: registered.body.id, name: 'hello' } });
  }
  t.match(await commands.larder(`account disable ${account.id} --yes`), { code: 0 });
  t.same(await whoami(), [401]);
});

t.test('a reload reaches all of them, or none', async (t) => {
  t.match(await commands.larder('log-level debug'), { code: 0 });
  await until(() => lines(/"msg":"configuration reloaded"/) === 2);
  t.match(await commands.larder('log-level info'), { code: 0 });
  await until(() => lines(/"msg":"configuration reloaded"/) === 4);

  const file = join(data, 'larder.toml');
  const good = readFileSync(file, 'utf8');
  writeFileSync(file, `${good}\n[http`);
  store.process.kill('SIGHUP');
  await until(() => lines(/"msg":"configuration refused; the old one stays"/) === 1);
  writeFileSync(file, good);
  changeConfig(file, { 'http.workers': 3 });
  store.process.kill('SIGHUP');
  await until(() => lines(/"keys":\["http.workers"\],"msg":"changed, but only a restart makes it count"/) === 2);
  changeConfig(file, { 'http.workers': 2 });
  t.equal(lines(/"msg":"configuration refused; the old one stays"/), 1, 'no worker was told of the bad one');
});

t.test('all of them are sealed, and all are given the key again', async (t) => {
  const passphrase = join(data, 'passphrase');
  writeFileSync(passphrase, 'correct horse battery staple\n', { mode: 0o600 });
  t.match(await commands.larder(`key seal --passphrase-file ${passphrase} --yes`), { code: 0 });
  const reloaded = lines(/"msg":"configuration reloaded"/);
  store.process.kill('SIGHUP');
  await until(() => lines(/"msg":"configuration reloaded"/) === reloaded + 2);
  t.same(await figures('larder_sealed'), [1]);
  changeConfig(join(data, 'larder.toml'), { 'keys.passphrase_file': passphrase });
  store.process.kill('SIGHUP');
  await until(() => lines(/"msg":"configuration reloaded"/) === reloaded + 4);
  t.same(await figures('larder_sealed'), [0]);
});

t.test('a hanging worker gets at most one connection', async (t) => {
  const [, pid] = [...store.pids()][0]!;
  process.kill(pid, 'SIGSTOP');
  const requests = Array.from({ length: 8 }, () => ask('/healthz'));
  let answered = 0;
  for (const request of requests) void request.then(() => answered++);
  await until(() => answered >= 7);
  t.equal(answered, 7);
  process.kill(pid, 'SIGCONT');
  t.same(
    (await Promise.all(requests)).map(({ status }) => status),
    Array(8).fill(200),
  );
});

t.test('a killed worker is replaced, and reported counters do not go back', async (t) => {
  const [before = NaN] = await figures(healthz);
  const [first, second] = [...store.pids().values()];
  process.kill(second!, 'SIGSTOP');
  const passed = [ask('/readyz'), ask('/readyz')];
  await Promise.any(passed);
  process.kill(second!, 'SIGKILL');
  const outcomes = (await Promise.allSettled(passed)).map(({ status }) => status);
  t.same(outcomes.sort(), ['fulfilled', 'rejected'], 'nobody waits for what it was passed and never took');
  await until(() => /"worker":2,"code":null,"signal":"SIGKILL"[^}]*"msg":"a worker has ended/.test(store.log()));
  t.match((await ask('/healthz')).status, 200, 'meanwhile the other one serves');
  await until(() => store.pids().get(2) !== undefined && store.pids().get(2) !== second);
  t.equal(store.pids().get(1), first);
  t.same(await figures(healthz), [before + 1]);
  t.same(await figures('larder_workers_ended_total'), [1]);
  await until(async () => (await ask('/readyz')).body.workers.serving === 2);
});

t.test('work for all is done by one worker, once', async (t) => {
  await until(async () => (await figures('larder_job_runs{job="prove-records",task="prove-records"}'))[0] === 1);
  t.same(await figures('larder_job_runs{job="sweep-blobs",task="sweep-blobs"}'), [1]);
  t.match(await figures('larder_job_runs{job="keep-room",task="keep-room"}'), [Number], 'what each does for itself');
  const { entries } = (await commands.json('audit list --action verify_records')) as { entries: unknown[] };
  t.equal(entries.length, 1);
});

t.test('commands on the host report all of them', async (t) => {
  t.same(looks, ['larder status', 'larder doctor']);
  t.match(
    (await commands.larder('status')).out,
    /Serving +yes, since \S+, process \d+, 2 of 2 workers, log level info/,
  );
  t.match(await commands.json('status'), { serving: { workers: { wanted: 2, serving: 2, ended: 1 } } });
  t.match((await commands.larder('doctor')).out, /Server: served since \S+ by process \d+ with 2 of 2 workers/);
});

t.test('a stop finishes current requests, and frees the store', async (t) => {
  const { port } = new URL(store.url);
  const uploading = connect({ port: Number(port), host: '127.0.0.1' });
  const form = '--f\r\ncontent-disposition: form-data; name="binary"; filename="a"\r\n\r\nhalf';
  const rest = ' and half\r\n--f--\r\n';
  const length = form.length + rest.length;
  uploading.write(
    `POST /unscanned-upload/ HTTP/1.1\r\nhost: a\r\ncontent-type: multipart/form-data; boundary=f\r\n` +
      `content-length: ${length}\r\n\r\n${form}`,
  );
  const answer = uploading.setEncoding('utf8').toArray();
  // Its first bytes have come: the worker has it.
  await until(() => uploading.bytesWritten > 0);
  await ask('/healthz');
  const ended = once(store.process, 'exit');
  store.process.kill('SIGTERM');
  await until(() => lines(/"msg":"stopping"/) === 3);
  await t.rejects(ask('/healthz'), 'no other is taken');
  uploading.write(rest);
  t.match((await answer).join(''), /^HTTP\/1\.1 200 /);
  t.same(await ended, [0, null]);
  t.match(store.log(), /"msg":"stopped"\}\n$/);
  t.notOk(existsSync(join(data, 'serving.json')));
  t.match(await commands.larder('status'), { out: /Serving +no/ });
});
