// Two processes serve one store: sequences of requests succeed if each request comes to the other process, and a
// single-use value is accepted once in all.
// Own process: it starts its store while it is loaded.
import { once } from 'node:events';
import { readdirSync, statfsSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import t from 'tap';

import { processName } from '#shared/processes.ts';
import { minutes } from '#domain/clock.ts';
import { declare, digestOf, logIn as logInToRegistry, uploadLogin } from '#test/fixtures/packages/images.ts';
import { journeysInTurn, namesSite } from '#test/fixtures/processes/in-turn.ts';
import { startTwoProcesses } from '#test/fixtures/processes/two-processes.ts';
import { until } from '#test/fixtures/until.ts';

const {
  store,
  urls,
  given: turns,
  turnTo,
  advance,
  kill,
  again,
} = await startTwoProcesses(t, (text) => namesSite(text).replace(/^# max_size = .*$/m, 'max_size = "900 TiB"'));
const { records } = store.beside;
const front = store.url;
/** Begins to send a file of so many bytes to one of the processes, from an address; whether it is refused shows at once. */
function beginUpload(url: string, size: number, localAddress = '127.0.0.1') {
  const form = '--form\r\ncontent-disposition: form-data; name="binary"; filename="a.snap"\r\n\r\nbegun';
  const sending = request(`${url}/unscanned-upload/`, {
    method: 'POST',
    localAddress,
    headers: { 'content-type': 'multipart/form-data; boundary=form', 'content-length': String(size) },
  });
  sending.write(form);
  sending.on('error', () => undefined);
  const answered = once(sending, 'response').then(([reply]: IncomingMessage[]) => {
    reply!.resume();
    return { status: reply!.statusCode, retryAfter: reply!.headers['retry-after'] };
  });
  answered.catch(() => undefined);
  return { answered, stop: () => sending.destroy() };
}

/** A journey twice: begun at the one process, and begun at the other. */
async function fromBoth(journey: (first: number) => Promise<void>): Promise<void> {
  for (const first of [0, 1]) {
    turnTo(first);
    const from = turns.length;
    await journey(first);
    const inTurn = turns.slice(from).map((_, at) => (first + at) % 2);
    t.same(turns.slice(from), inTurn, 'the processes take turns');
  }
}

for (const [name, journey] of Object.entries(journeysInTurn)) {
  t.test(name, (t) => journey(t, { store, urls, fromBoth }));
}

t.test('an upload at one process prolongs its credentials at the other', async (t) => {
  await declare(store, 'ada', 'slow');
  turnTo(0);
  const login = await uploadLogin(await store.as('ada'), 'slow');
  const at = (process: number) => logInToRegistry({ ...store, url: urls[process]! }, login);
  let client = await at(1);
  const { pathname } = new URL((await client.call('POST', 'blobs/uploads/')).headers.get('location')!, store.url);
  for (const chunk of ['a', 'b', 'c']) {
    await advance(minutes(9));
    client = await at(1);
    t.match(await client.call('PATCH', urls[1]! + pathname, chunk), { status: 202 });
  }
  const noted = async () => (await records.counters.find('image-upload', login.username))?.lastAt;
  await until(async () => (await noted()) === store.clock.now.toISOString());
  t.match(await (await at(0)).call('GET', 'tags/list'), { status: 200 }, 'the credentials are good');
  await advance(minutes(10));
  for (const process of [0, 1]) await t.rejects(at(process), { message: /401/ }, 'nothing moved any more');
});

t.test(
  'two processes reserve only existing disk space, and the reservation of a dead process is released',
  async (t) => {
    const { bavail, bsize } = statfsSync(store.directory);
    const uploadBytes = Math.floor(bavail * bsize * 0.6);
    const first = beginUpload(urls[1]!, uploadBytes);
    const promised = async () => (await records.shares.of('space')).reduce((sum, { amount }) => sum + amount, 0);
    await until(async () => (await promised()) >= uploadBytes);
    t.match(await beginUpload(urls[0]!, uploadBytes).answered, { status: 507, retryAfter: '300' });
    const small = beginUpload(urls[0]!, 1000);
    await until(async () => (await records.shares.of('space')).length === 2);

    await kill();
    await t.rejects(first.answered);
    const second = beginUpload(urls[0]!, uploadBytes);
    await until(async () => (await promised()) >= uploadBytes && (await records.shares.of('space')).length === 1);
    for (const upload of [second, small]) upload.stop();
    await again();
  },
);

t.test('the places of a sender count at both processes, and a dead process holds none', async (t) => {
  const begin = (process: number) => beginUpload(urls[process]!, 1000, '127.0.0.9');
  const uploads = Array.from({ length: 32 }, () => begin(1));
  const taken = async () => (await records.shares.of('uploads of 127.0.0.9')).map(({ amount }) => amount);
  await until(async () => (await taken()).join() === '32');
  t.match(await begin(0).answered, { status: 429, retryAfter: '10' });
  await kill();
  await t.rejects(uploads[0]!.answered);
  const firstUpload = begin(0);
  await until(async () => (await taken()).join() === '1');
  firstUpload.stop();
  await again();
});

t.test('the process that holds the store restarts: uploads at the other one continue', async (t) => {
  await declare(store, 'ada', 'kept');
  const client = await logInToRegistry(store, await uploadLogin(await store.as('ada'), 'kept'));
  const other = async (...call: Parameters<typeof client.call>) => {
    turnTo(1);
    return client.call(...call);
  };
  const begun = await other('POST', 'blobs/uploads/');
  const sent = await other('PATCH', begun.headers.get('location')!, 'begun before, ');
  t.match(sent, { status: 202 });

  const temporary = (): string[] => readdirSync(join(store.directory, 'blobs/tmp'));
  const countBefore = temporary().length;
  const rest = Promise.withResolvers<undefined>();
  const form = ['--form\r\n', 'content-disposition: form-data; name="binary"; filename="a.snap"\r\n\r\n', 'half'];
  async function* halves() {
    yield Buffer.from(form.join(''));
    await rest.promise;
    yield Buffer.from(' and half\r\n--form--\r\n');
  }
  const headers = { 'content-type': 'multipart/form-data; boundary=form' };
  const uploading = fetch(`${urls[1]!}/unscanned-upload/`, {
    method: 'POST',
    headers,
    duplex: 'half',
    body: Readable.from(halves()),
  } as unknown as RequestInit);
  while (temporary().length === countBefore) await new Promise(setImmediate);

  const serving = (await records.leases.holders()).filter((holder) => !holder.includes(' '));
  const process = serving.find((holder) => holder !== processName())!;
  const ends = { now: '', endsAt: '9999', tooLate: '9999' };
  await records.ephemeral(async ({ leases }) => {
    await leases.take('of the other one', `${process} 1`, ends);
    await leases.take('of one that died', '4194305.1 1', ends);
  });
  await store.restart();
  store.url = front;

  t.match(await records.leases.find('of the other one'), { holder: `${process} 1` });
  t.equal(await records.leases.find('of one that died'), undefined);
  rest.resolve(undefined);
  t.equal((await uploading).status, 200);
  const place = `${sent.headers.get('location')!}&digest=${digestOf('begun before, and after')}`;
  t.match(await other('PUT', place, 'and after'), { status: 201 });
});
