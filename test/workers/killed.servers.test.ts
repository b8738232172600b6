// Workers are killed under load: nothing that was acknowledged is lost, and nothing is done twice. That this would be noticed is
// shown by a store that acknowledges before it has done anything.
import { readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import t, { type Test } from 'tap';

import {
  askingFile,
  count,
  killWorkers,
  startClients,
  wrongIn,
  type Told,
} from '#test/fixtures/processes/killed-workers.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { dataFolder, larder } from '#test/fixtures/processes/served.ts';
import { until } from '#test/fixtures/until.ts';
import { ask, serveByWorkers } from '#test/fixtures/processes/workers.ts';

const long = process.env['LARDER_LONG'] === '1';
const kills = long ? 200 : 2;
t.setTimeout(long ? 3_600_000 : 600_000);

async function store(t: Test) {
  const data = dataFolder(t);
  const made = await larder('init', '--data', data);
  const macaroon = readFileSync(made['admin-macaroon-file'] ?? '', 'utf8');
  // Should both be down for a moment, the address stays.
  const workers = await serveByWorkers(t, data, 2, `127.0.0.1:${await freePort()}`);
  const exchanged = await ask(workers.url, '/v1/tokens/offline/exchange', { method: 'POST', body: { macaroon } });
  return { data, workers, token: String(exchanged.body.macaroon) };
}

async function wrongFor(data: string, acknowledged: Told): Promise<string[]> {
  const { asking, close } = askingFile(data);
  try {
    return await wrongIn(asking, acknowledged);
  } finally {
    close();
  }
}

/** How many pushes still wait for review. */
async function reviewsWaiting(data: string): Promise<number> {
  const { asking, close } = askingFile(data);
  try {
    return (await asking('SELECT id FROM uploads WHERE status = ?', 'new')).length;
  } finally {
    close();
  }
}

t.test(`after ${kills} kills every acknowledged change exists, once`, async (t) => {
  const { data, workers, token } = await store(t);
  const { told: acknowledged, stop } = await startClients(workers.url, token);
  await killWorkers(workers, acknowledged, kills);
  await stop();
  t.ok(acknowledged.broken >= kills, `${acknowledged.broken} requests were cut, ${count(acknowledged)} acknowledged`);
  t.ok(acknowledged.names.size > 0 && acknowledged.pushes.size > 0);
  await until(async () => (await reviewsWaiting(data)) === 0 || workers.process.exitCode !== null);
  t.same(await wrongFor(data, acknowledged), []);
  // The supervisor tells the other worker of an end when that worker has answered.
  let ended = 0;
  await until(async () => {
    ended = Number(/^larder_workers_ended_total (\d+)$/m.exec((await workers.ask('/metrics')).text)?.[1]);
    return ended >= kills;
  });
  t.equal(ended, kills, workers.log());
  t.equal(await workers.stop(), 0);
  t.match(await larder('verify', '--data', data), { good: true });
  t.match(await larder('audit', 'verify', '--data', data), { good: true });
});

t.test('a store that acknowledges before it has done anything is found out', async (t) => {
  const { data, workers, token } = await store(t);
  let [underWay, done, cut] = [0, 0, 0];
  const hasty = createServer((request, response) => {
    const { method, url: path, headers } = request;
    underWay++;
    let isDone = false;
    const onward = send(workers.url + path!, { method, headers, agent: false }, (answer) => {
      answer.resume().once('end', () => (isDone = answer.statusCode === 200));
    });
    // A broken request is not repeated: its client has the acknowledgement.
    onward.once('error', () => undefined);
    // An answer that is cut in its midst has no end, and its request no error: only this comes in any case.
    onward.once('close', () => {
      underWay--;
      if (isDone) done++;
      else cut++;
    });
    request.pipe(onward);
    // Not so hasty that the store is left behind.
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":""}'), 10);
  }).listen(0, '127.0.0.1');
  await once(hasty, 'listening');
  t.teardown(() => {
    hasty.closeAllConnections();
    hasty.close();
  });
  const url = `http://127.0.0.1:${(hasty.address() as AddressInfo).port}`;
  const { told: acknowledged, stop } = await startClients(url, token, false);
  await killWorkers(workers, acknowledged, 1);
  await stop();
  t.equal(acknowledged.broken, 0, 'its clients notice nothing');
  await until(() => underWay === 0);
  t.ok(cut > 0 && done + cut === acknowledged.names.size, `${done} were done, ${cut} cut`);
  const lost = (await wrongFor(data, acknowledged)).filter((problem) => problem.startsWith('lost: the name '));
  t.ok(lost.length > 0 && lost.length <= cut, `${lost.length} names are lost`);
  t.equal(await workers.stop(), 0);
});
