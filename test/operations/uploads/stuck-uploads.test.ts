// Stalled uploads keep no other client from uploading, neither behind the same address nor elsewhere.
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';

const long = process.env['LARDER_LONG'] === '1';

interface Stuck {
  /** The responses of the store to it. */
  said(): string;
}

/** An upload that sends the beginning of its file and then nothing. */
function stuck(t: { teardown(work: () => void): void }, store: TestAppliance, localAddress = '127.0.0.1'): Stuck {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(store.url).port), localAddress });
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.write(
    'POST /unscanned-upload/ HTTP/1.1\r\nHost: store\r\nContent-Type: multipart/form-data; boundary=b\r\n' +
      'Content-Length: 1000000\r\n\r\n--b\r\nContent-Disposition: form-data; name="binary"; filename="f"\r\n\r\nx',
  );
  t.teardown(() => socket.destroy());
  return { said: () => text };
}

/** An honest upload: a file that arrives at once; its status. */
async function honest(store: TestAppliance): Promise<number> {
  const form = new FormData();
  form.set('binary', new Blob(['some bytes']), 'file');
  const reply = await fetch(`${store.url}/unscanned-upload/`, { method: 'POST', body: form });
  await reply.body?.cancel();
  return reply.status;
}

/** Resolves when so many have a place: the files that they fill are there. */
async function underWay(store: TestAppliance, count: number): Promise<void> {
  while (readdirSync(`${store.directory}/blobs/tmp`).length < count) await sleep(20);
}

t.test('a stalled upload gives its place to a new one, and is told why', async (t) => {
  const clock = { now: 0 };
  const uploads = { ofSender: 2, all: 3, elapsed: () => clock.now };
  const store = await startStore(t, undefined, undefined, { uploads });
  const two = [stuck(t, store), stuck(t, store)];
  await underWay(store, 2);
  t.equal(await honest(store), 429, 'the first ten seconds belong to everybody');
  clock.now += seconds(10);
  t.equal(await honest(store), 200);
  while (two.every(({ said: received }) => received() === '')) await sleep(20);
  const ended = two.map(({ said: received }) => received()).join('');
  t.match(ended, /^HTTP\/1\.1 429 .*^retry-after: 10\r$.*slower than 1 KiB per second while other uploads waited/ims);
  t.equal(two.filter(({ said: received }) => received() === '').length, 1, 'the other goes on');
  const { records } = store.beside;
  t.match(await records.counts.all(), { unclaimed: 1 }, 'and nothing is left of it');
});

t.test('uploads of several addresses that take all places leave one to another address', async (t) => {
  const clock = { now: 0 };
  const uploads = { ofSender: 2, all: 4, elapsed: () => clock.now };
  const store = await startStore(t, undefined, undefined, { uploads });
  for (const address of ['127.0.0.2', '127.0.0.2', '127.0.0.3', '127.0.0.3']) stuck(t, store, address);
  await underWay(store, 4);
  clock.now += seconds(10);
  t.equal(await honest(store), 200);
});

t.test(
  'with 512 stalled uploads, 32 of them from its own address, an honest one completes within a minute',
  { skip: long ? false : 'takes half a minute; LARDER_LONG=1 runs it', timeout: 300_000 },
  async (t) => {
    const store = await startStore(t);
    for (let at = 0; at < 512; at++) stuck(t, store, `127.0.0.${1 + (at % 16)}`);
    await underWay(store, 512);
    const cpu = process.cpuUsage();
    const statuses: number[] = [];
    // The client tries again every second, as the response says.
    while (statuses.at(-1) !== 200 && statuses.length < 60) {
      statuses.push(await honest(store));
      if (statuses.at(-1) !== 200) await sleep(1000);
    }
    const { user, system } = process.cpuUsage(cpu);
    t.comment(`${statuses.length} tries, a second apart; ${(user + system) / 1e6} s of CPU, clients included`);
    t.equal(statuses.at(-1), 200);
  },
);
