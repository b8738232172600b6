// The limits of one connection and one client: high enough for every honest client.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import t from 'tap';

import { connectionLimits } from '#http/connection-limits.ts';
import { openFilesLimit } from '#appliance/descriptors.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

type Test = Parameters<typeof startStore>[0];

/** A connection, and all that comes over it until it ends. */
async function open(t: Test, store: TestAppliance): Promise<{ socket: Socket; ended: Promise<string> }> {
  const { hostname, port, protocol } = new URL(store.url);
  const address = { host: hostname, port: Number(port) };
  const socket = protocol === 'https:' ? connectTls({ ...address, rejectUnauthorized: false }) : connect(address);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined); // who is cut off may find the connection reset
  const ended = once(socket, 'close').then(() => text);
  t.teardown(() => socket.destroy());
  await Promise.race([once(socket, protocol === 'https:' ? 'secureConnect' : 'connect'), ended]);
  return { socket, ended };
}

const ask = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: store\r\n${more}\r\n`;
const answers = (text: string): number => text.split('HTTP/1.1 200').length - 1;
const answered = (store: TestAppliance): number =>
  store.log.filter((line) => line.includes('"operation":"healthz"')).length;

for (const scheme of ['http', 'https']) {
  const configure = (text: string): string => text.replace('base_url = "http:', `base_url = "${scheme}:`);

  t.test(`sixteen requests may be under way on one connection over ${scheme}, and are answered in order`, async (t) => {
    const store = await startStore(t, configure);
    const { socket, ended } = await open(t, store);
    socket.write(ask('/healthz').repeat(15) + ask('/healthz', 'Connection: close\r\n'));
    t.equal(answers(await ended), 16);
  });

  t.test(`a connection with too many requests is closed over ${scheme}, and costs only those sixteen`, async (t) => {
    const store = await startStore(t, configure);
    const { socket, ended } = await open(t, store);
    socket.write(ask('/healthz').repeat(1700));
    await ended;
    const { socket: other, ended: theirs } = await open(t, store);
    other.write(ask('/healthz', 'Connection: close\r\n'));
    t.equal(answers(await theirs), 1, 'others are served');
    t.ok(answered(store) <= 17, `${answered(store)} were answered`);
  });
}

t.test('any number of requests goes over one connection one after the other', async (t) => {
  const store = await startStore(t);
  const { socket } = await open(t, store);
  for (let at = 0; at < 40; at++) {
    socket.write(ask('/healthz'));
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    t.match(chunk.toString(), /^HTTP\/1\.1 200/);
  }
});

t.test('a client has a limited number of connections, and an ended one makes room', async (t) => {
  const store = await startStore(t, undefined, undefined, { connections: { ofClient: 3 } });
  const three = [await open(t, store), await open(t, store), await open(t, store)];
  for (let at = 0; at < 5; at++) t.equal(await (await open(t, store)).ended, '', 'closed without a word');
  for (const { socket } of three) {
    socket.write(ask('/healthz'));
    t.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200/, 'those that were there before stay');
  }
  const logLines = store.log.filter((line) => line.includes('closes further connections of this address'));
  t.equal(logLines.length, 1, 'the log is told once');
  three[0]!.socket.end();
  await three[0]!.ended;
  t.match(await store.anyone.get('/healthz'), { status: 200 });
});

t.test('a trusted proxy has as many connections as there are people behind it', async (t) => {
  const behindProxy = (text: string): string =>
    text.replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.1"]');
  const store = await startStore(t, behindProxy, undefined, { connections: { ofClient: 3 } });
  for (let at = 0; at < 10; at++) {
    const { socket } = await open(t, store);
    socket.write(ask('/healthz'));
    t.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200/);
  }
});

t.test('all clients together have a limited number of connections', async (t) => {
  const store = await startStore(t, undefined, undefined, { connections: { all: 3, ofClient: 100 } });
  const three = [await open(t, store), await open(t, store), await open(t, store)];
  for (let at = 0; at < 3; at++) t.equal(await (await open(t, store)).ended, '');
  t.equal(store.log.filter((line) => line.includes('the limit of all connections is reached')).length, 1);
  three[0]!.socket.end();
  await three[0]!.ended;
  t.match(await store.anyone.get('/healthz'), { status: 200 });
});

t.test('connections never take more than half of the descriptors, even if there are few', (t) => {
  for (const [descriptors, ofClient, all] of [
    [256, 64, 128],
    [1024, 256, 512],
    [4096, 1408, 2816],
    [65_536, 2048, 64_256],
    [1_048_576, 2048, 1_047_296],
  ] as const) {
    t.same(connectionLimits(descriptors), { requests: 16, ofClient, all }, `of ${descriptors}`);
  }
  const read = (text: string) => openFilesLimit(() => `Limit  Soft Limit\nMax open files   ${text}   524288   files\n`);
  t.equal(read('4096'), 4096);
  t.equal(read('unlimited'), 1_048_576);
  t.equal(
    openFilesLimit(() => {
      throw new Error('no /proc here');
    }),
    1024,
  );
  t.ok(openFilesLimit() > 0);
  t.end();
});
