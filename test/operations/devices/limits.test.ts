// Clients that are told to retry later: downloads above the limit, and repeated session requests.
import t from 'tap';

import { minutes, seconds } from '#domain/clock.ts';
import { trusted } from '#test/assertions/world.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { trusting } from '#test/fixtures/brands.ts';
import { servingSnaps } from '#test/fixtures/devices.ts';
import { pushCharm, pushResource, servingCharms } from '#test/fixtures/clients/juju.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { startTwoProcesses } from '#test/fixtures/processes/two-processes.ts';
import { until } from '#test/fixtures/until.ts';
import { begin, withLargeSnap } from './large.ts';
import { makeAcme, pumpDevice, serialOf, startForDevices } from './world.ts';

t.setTimeout(600_000);
const downloads = (maximum: number) => (text: string) =>
  text.replace('# max_downloads = 500', `max_downloads = ${maximum}`);
interface Refused {
  'error-list'?: { code: string }[];
}
const refused = (code: string, message: RegExp) => ({ status: 429, body: { 'error-list': [{ code, message }] } });

largeTest('the number of concurrent downloads is limited, and a further client is told when to retry', async (t) => {
  const { store, content, path } = await withLargeSnap(t, downloads(2));
  const status = async (headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(store.url + path, { headers, method });
    await response.body?.cancel();
    return response.status;
  };
  const [first, second] = [await begin(store.url + path), await begin(store.url + path)];
  const reply = await store.anyone.get(path);
  t.match(reply, refused('too-many-requests', /maximum of simultaneous downloads.*ten seconds/));
  t.equal(reply.headers.get('retry-after'), '10');
  t.equal(reply.headers.get('content-range'), null, 'before any byte');
  t.equal(await status({ range: 'bytes=5-' }), 429);
  t.equal(await status({}, 'HEAD'), 200, 'who asks how large it is downloads nothing');
  const etag = (await fetch(store.url + path, { method: 'HEAD' })).headers.get('etag')!;
  t.equal(await status({ 'if-none-match': etag }), 304, 'nor does who has it');
  t.equal(await status({ range: `bytes=${content.length}-` }), 416);
  t.match(await store.anyone.get('/v2/snaps/info/large'), { status: 200 }, 'and questions have no limit');

  first.response.destroy();
  await until(async () => (await status({ range: 'bytes=0-9' })) === 206);
  await until(async () => (await status({ range: 'bytes=0-9' })) === 206);
  let size = 0;
  for await (const piece of second.response) size += (piece as Buffer).length;
  t.equal(size, content.length, 'and one that has begun comes to its end');
});

/** A charm with a resource of the given size, and its download path for juju. */
async function withResource(store: TestAppliance, size: number): Promise<string> {
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/charm', { name: 'hello' })).body;
  await pushCharm(ada, 'hello', { metadata: 'resources:\n  site: {type: file, filename: site.tar}\n' });
  await pushResource(store, ada, '/v1/charm/hello/resources/site', 'x'.repeat(size));
  const resources = [{ name: 'site', revision: 1 }];
  await ada.post('/v1/charm/hello/releases', [{ channel: 'stable', revision: 1, resources }]);
  return `/api/v1/resources/download/charm_${id}.site_1`;
}

t.test('of bytes there are so many a second, over a minute', async (t) => {
  const store = await startStore(t, (text) =>
    servingCharms(text).replace('# max_download_rate = "50 MiB"', 'max_download_rate = 100'),
  );
  const path = await withResource(store, 100_000);
  const ask = async (range: string) => {
    const response = await fetch(store.url + path, { headers: { range } });
    const { 'error-list': errors } = response.status === 429 ? ((await response.json()) as Refused) : {};
    await response.body?.cancel().catch(() => undefined);
    return [response.status, response.headers.get('retry-after'), errors?.[0]?.code];
  };
  t.same(await ask('bytes=0-2999'), [206, null, undefined]);
  t.same(await ask('bytes=0-11999'), [206, null, undefined], "one that begins within a minute's worth goes whole");
  t.same(await ask('bytes=0-0'), [429, '91', 'rate-limit-exceeded']);
  store.clock.advance(seconds(91));
  t.same(await ask('bytes=0-99'), [206, null, undefined]);
  t.same(await ask('bytes=0-0'), [429, '1', 'rate-limit-exceeded']);
});

/** Asks so often in one moment of the store's clock: some at a time, because that many connections at once are another matter. */
async function manyTimes(times: number, ask: () => Promise<{ status: number }>): Promise<number[]> {
  const answered: number[] = [];
  let left = times;
  const inTurn = async (): Promise<void> => {
    while (left-- > 0) answered.push((await ask()).status);
  };
  await Promise.all(Array.from({ length: 50 }, inTurn));
  return answered;
}

t.test('an address that proves nothing asks for a thousand nonces at once, and a hundred a second', async (t) => {
  const { store, anyone } = await startForDevices(t);
  const nonce = () => anyone.post('/api/v1/snaps/auth/nonces', undefined);
  const ask = async (times: number) => (await manyTimes(times, nonce)).filter((status) => status === 200).length;
  t.equal(await ask(1050), 1000);
  const reply = await nonce();
  t.match(reply, refused('too-many-requests', /limits\.known_networks/));
  t.equal(reply.headers.get('retry-after'), '1');
  store.clock.advance(seconds(1));
  t.equal(await ask(150), 100);
  t.match(await anyone.post('/api/v1/snaps/auth/sessions', { 'serial-assertion': 'x' }), { status: 400 });
  const device = { 'device-session-request': 'x', 'serial-assertion': 'x', 'model-assertion': 'x' };
  t.match(await anyone.post('/api/v1/snaps/auth/sessions', device), { status: 429 }, 'guesses count as well');
  store.clock.advance(-minutes(5));
  t.equal(await ask(1), 0, 'a clock that is set back lets nobody in');
  store.clock.advance(minutes(1));
  t.equal(await ask(1050), 1000);
});

t.test('known networks ask as often as they like', async (t) => {
  const { anyone } = await startForDevices(t, (text) =>
    text.replace('# known_networks = []', 'known_networks = ["127.0.0.0/8"]'),
  );
  const answered = await manyTimes(1100, () => anyone.post('/api/v1/snaps/auth/nonces', undefined));
  t.equal(answered.length, 1100);
  t.ok(answered.every((status) => status === 200));
});

largeTest('a device is counted as itself, by all processes: sixty sessions in 70 minutes', async (t) => {
  const trusts = trusting(t, trusted);
  const { store, turnTo, advance } = await startTwoProcesses(t, (text) => servingSnaps(trusts(text)));
  await makeAcme(store);
  const [first, second] = [
    await pumpDevice(store.anyone),
    await pumpDevice(store.anyone, { serial: await serialOf({ serial: '0002' }) }),
  ];
  const session = async (device = first, more = {}) => {
    const texts = await device.texts(more);
    return device.send(texts);
  };
  for (let count = 0; count < 60; count++) t.match(await session(), { status: 200 });
  for (const process of [0, 1]) {
    const texts = await first.texts();
    turnTo(process);
    const reply = await first.send(texts);
    t.match(reply, refused('too-many-requests', /started 60 sessions recently.*in 70 minutes/));
    t.equal(reply.headers.get('retry-after'), '4200');
  }
  t.match(await session(second, { serial: '0002' }), { status: 200 }, 'its neighbour has its own');
  await advance(minutes(70));
  t.match(await session(), { status: 200 });
});
