import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:net';

import t, { type Test } from 'tap';

import { createDigestPool } from '#blobs/digests.ts';
import { diskBlobs } from '#blobs/disk.ts';
import { forgetUploads } from '#jobs/uploads/forget-uploads.ts';
import { startWorker } from '#platform/embedded.ts';
import { store as blobStore } from '#test/blobs/store.ts';
import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { contentFiles } from '#test/fixtures/contents.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { databaseOf, statement } from '#test/fixtures/records/engines.ts';
import { footprint } from '#test/fixtures/footprint.ts';
import { raw } from '#test/fixtures/clients/raw.ts';
import { until } from '#test/fixtures/until.ts';

const boundary = 'b0undary';
const type = `multipart/form-data; boundary=${boundary}`;
const part = (content: string, head = 'form-data; name="binary"; filename="x"'): string =>
  `--${boundary}\r\nContent-Disposition: ${head}\r\nContent-Type: application/octet-stream\r\n\r\n${content}\r\n`;
const form = (content: string): string => `${part(content)}--${boundary}--\r\n`;

const send = async (
  store: TestAppliance,
  body: string | Blob | ReadableStream,
  headers: Record<string, string> = {},
  path = '/unscanned-upload/',
) => {
  const response = await fetch(store.url + path, {
    method: 'POST',
    headers,
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' as const }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
};

const refused = (status: number, code: string) => ({ status, body: { 'error-list': [{ code, message: /.{10,}/ }] } });

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

t.test('an uploaded file is stored under its digest, and its id is for the account that pushes it', async (t) => {
  const store = await startStore(t);
  for (const path of ['/unscanned-upload/', '/publishergw/unscanned-upload/']) {
    for (const content of ['content', '', '\r\n--not the boundary\r\n', 'x'.repeat(3_000_000)]) {
      const reply = await send(store, form(content), { 'content-type': type }, path);
      t.match(reply, { status: 200, body: { successful: true, upload_id: uuid } });
      t.same(Object.keys(reply.body).sort(), ['successful', 'upload_id']);
      const digest = createHash('sha3-384').update(content).digest('hex');
      const stored = readFileSync(join(store.directory, 'blobs/sha3', digest.slice(0, 2), digest), 'utf8');
      t.equal(stored, content);
    }
  }
  t.equal(contentFiles(store.directory).length, 4, 'the same content is kept once');
});

largeTest('the same file from many clients at once is stored once, and each has an id of its own', async (t) => {
  const store = await startStore(t);
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      send(store, form(at % 3 === 0 ? 'other' : 'x'.repeat(300_000)), { 'content-type': type }),
    ),
  );
  t.ok(replies.every(({ status }) => status === 200));
  t.equal(new Set(replies.map(({ body }) => body['upload_id'])).size, 12);
  t.equal(contentFiles(store.directory).length, 2);
});

t.test('a token is neither needed nor looked at', async (t) => {
  const store = await startStore(t);
  for (const authorization of ['Macaroon nonsense', `Macaroon ${(await store.as('ada')).token}`]) {
    t.match(await send(store, form('x'), { 'content-type': type, authorization }), { status: 200 });
  }
});

t.test('small text fields beside the file are ignored', async (t) => {
  const store = await startStore(t);
  const field = part('value', 'form-data; name="updown_id"').replace(/Content-Type.*\r\n/, '');
  t.match(await send(store, `${field}${form('content')}`, { 'content-type': type }), { status: 200 });
});

t.test('a request that is not a form with one file is refused, and leaves nothing', async (t) => {
  const store = await startStore(t);
  const before = footprint(store.directory);
  for (const [body, contentType, status, code] of [
    ['content', 'application/octet-stream', 415, 'unsupported-media-type'],
    ['{}', 'application/json', 415, 'unsupported-media-type'],
    [form('x'), 'multipart/mixed; boundary=b0undary', 415, 'unsupported-media-type'],
    [form('x'), 'multipart/form-data', 400, 'api-error'],
    [form('x'), 'multipart/form-data; boundary=other', 400, 'api-error'],
    [part('x'), type, 400, 'api-error'],
    [`--${boundary}--\r\n`, type, 400, 'api-error'],
    ['nonsense', type, 400, 'api-error'],
    [`${part('x')}${form('y')}`, type, 400, 'api-error'],
    [`${part('x', 'form-data; name="other"; filename="x"')}--${boundary}--\r\n`, type, 400, 'api-error'],
    [`${part('x', 'form-data; name="other"')}--${boundary}--\r\n`, type, 400, 'api-error'],
  ] as const) {
    t.match(
      await send(store, body, { 'content-type': contentType }),
      refused(status, code),
      `${contentType} ${body.slice(0, 60)}`,
    );
  }
  t.match(await send(store, new Blob([form('x')])), refused(415, 'unsupported-media-type'), 'without a type');
  t.same(footprint(store.directory), before);
});

t.test('a request without a length is refused, and a chunked one is not', async (t) => {
  const store = await startStore(t);
  const head = ['POST /unscanned-upload/ HTTP/1.1', 'Host: store', `Content-Type: ${type}`];
  const bare = await raw(store.url, `${head.join('\r\n')}\r\n\r\n`);
  t.equal(bare?.status, 411);
  t.match(JSON.parse(bare?.body ?? ''), { 'error-list': [{ code: 'length-required' }] });
  const stream = new Blob([form('streamed')]).stream();
  t.match(await send(store, stream, { 'content-type': type }), { status: 200 }, 'chunked');
});

t.test('a file over the limit is refused, announced or not, and nothing is left', async (t) => {
  const store = await startStore(t, (text) => text.replace(/^# max_size = .*$/m, 'max_size = "1 MiB"'));
  const before = footprint(store.directory);
  const large = form('x'.repeat(1024 * 1024 + 1));
  t.match(await send(store, large, { 'content-type': type }), refused(413, 'request-too-large'));
  t.match(await send(store, new Blob([large]).stream(), { 'content-type': type }), refused(413, 'request-too-large'));
  t.match(
    await send(store, form('x'.repeat(20 * 1024 * 1024)), { 'content-type': type }),
    refused(413, 'request-too-large'),
  );
  t.same(footprint(store.directory), before);
  t.match(
    await send(store, form('x'.repeat(1024 * 1024)), { 'content-type': type }),
    { status: 200 },
    'the limit itself is not over it',
  );
});

t.test('an address may hold a limited number of unclaimed bytes', async (t) => {
  const store = await startStore(t, (text) =>
    text
      .replace(/^# unclaimed_per_address = .*$/m, 'unclaimed_per_address = "100 KiB"')
      .replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.1"]'),
  );
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  const from = (address: string, size: number, chunked = false) =>
    send(store, chunked ? new Blob([form('x'.repeat(size))]).stream() : form('x'.repeat(size)), {
      'content-type': type,
      'x-forwarded-for': address,
    });
  const first = await from('10.0.0.1', 120 * 1024);
  t.match(first, { status: 200 }, 'who has nothing there may send one file as large as the store accepts');
  const before = footprint(store.directory);
  for (const chunked of [false, true]) {
    const reply = await from('10.0.0.1', 7, chunked);
    t.match(reply, refused(429, 'too-many-requests'), chunked ? 'chunked' : 'announced');
    t.ok(Number(reply.headers.get('retry-after')) > 0, 'it says when to try again');
  }
  t.same(footprint(store.directory), before, 'nothing is left of what was refused');
  t.match(await from('10.0.0.2', 60 * 1024), { status: 200 }, 'another address has room of its own');
  t.match(await from('10.0.0.2', 60 * 1024 + 1), { status: 200 }, 'what comes in does not count');
  t.match(await from('10.0.0.2', 1), refused(429, 'too-many-requests'));
  await ada.post('/v1/bin/hello/revisions', { 'upload-id': first.body['upload_id'] });
  t.match(await from('10.0.0.1', 60 * 1024 + 9), { status: 200 }, 'what is claimed counts no more');
});

/**
 * Earlier uploads of others, each a second after the one before, only in the records. They are inserted in one
 * statement: ten thousand requests take minutes on a busy machine.
 */
async function sentBefore(t: Test, store: TestAppliance, address: string, count: number, since = 0): Promise<void> {
  const rows = Array.from({ length: count }, (_, nth) => [
    `${address}-${nth}`,
    ...['sha3-384', 'sha256'].map((name) => createHash(name).update(`${address} ${nth}`).digest('hex')),
    ...[address, new Date(store.clock.now.getTime() - since + nth * 1000).toISOString(), nth + 1],
  ]);
  const row = '(?, ?, ?, 0, ?, ?, (SELECT COALESCE(MAX(seq), 0) FROM uploads) + ?)';
  const text = `INSERT INTO uploads (id, sha3_384, sha256, size, address, received_at, seq) VALUES ${rows.map(() => row).join()}`;
  const db = await databaseOf(t, store.directory);
  db.keepRowDigests();
  await db.transaction((tx) => tx.run(statement(text, ...rows.flat())));
}

largeTest('an address may hold a thousand unclaimed uploads of any size', async (t) => {
  const store = await startStore(t, (text) =>
    text.replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.1"]'),
  );
  const from = (address: string) => send(store, form(''), { 'content-type': type, 'x-forwarded-for': address });
  await sentBefore(t, store, '10.0.0.1', 999);
  t.match(await from('10.0.0.1'), { status: 200 });
  const reply = await from('10.0.0.1');
  t.match(reply, refused(429, 'too-many-requests'));
  t.match(reply.body, { 'error-list': [{ message: /at most 1000 unclaimed uploads/ }] });
  t.match(await from('10.0.0.2'), { status: 200 });
  await sentBefore(t, store, '2001:db8:0:7::/64', 1000);
  t.match(await from('2001:db8:0:7:1::1'), refused(429, 'too-many-requests'), 'an IPv6 client is its /64');
  t.match(await from('2001:db8:0:8:1::1'), { status: 200 });
});

t.test('if all places are taken, the client with the most bytes loses its oldest upload', async (t) => {
  const store = await startStore(t, (text) =>
    text.replace(/^# trusted_proxies = .*$/m, 'trusted_proxies = ["127.0.0.1"]'),
  );
  const { unclaimedUploads: unclaimed, uploads } = store.beside.records;
  for (let nth = 0; nth < 19; nth++) await sentBefore(t, store, `10.1.0.${nth}`, 500, 3_600_000);
  await sentBefore(t, store, '10.2.0.1', 500);
  t.equal(await unclaimed.count(), 10_000);
  await store.beside.records.ephemeral((tx) => tx.unclaimedUploads.forget('10.1.0.3-0'));
  const reply = await send(store, form('news'), { 'content-type': type, 'x-forwarded-for': '10.2.0.1' });
  t.match(reply, { status: 200 });
  t.equal(await unclaimed.count(), 10_000);
  const newcomer = await send(store, form('news'), { 'content-type': type, 'x-forwarded-for': '10.3.0.1' });
  t.match(newcomer, { status: 200 });
  t.equal(await unclaimed.count(), 10_000);
  t.same(await unclaimed.of('10.3.0.1'), { uploads: 1, bytes: 4 });
  t.equal(await uploads.find('10.2.0.1-0'), undefined, 'of 501 the oldest');
  t.ok(await uploads.find('10.2.0.1-1'));
  t.same(await unclaimed.of('10.1.0.0'), { uploads: 500, bytes: 0 }, 'others keep theirs');
});

t.test('an upload enters the audit log when it is claimed, with its address', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  const before = (await store.beside.records.audit.head())!.seq;
  let upload = '';
  for (let nth = 0; nth < 20; nth++) upload = await store.anyone.upload(`content ${nth}`);
  t.equal((await store.beside.records.audit.head())!.seq, before, 'a stranger cannot fill the log');
  await ada.post('/v1/bin/hello/revisions', { 'upload-id': upload });
  const claimed = (await store.beside.records.audit.newest(1e15, 5)).find(({ action }) => action === 'push_revision');
  t.match(claimed, { seq: before + 1 });
  t.match(JSON.parse(String(claimed?.details)), {
    upload,
    from: '127.0.0.1',
    size: 10,
    'sha3-384': createHash('sha3-384').update('content 19').digest('hex'),
    'received-at': store.clock.now.toISOString(),
  });
});

t.test('a disk without room for it is not filled', async (t) => {
  const store = await startStore(t, (text) => text.replace(/^# reserve = .*$/m, 'reserve = "900 TiB"'));
  const before = footprint(store.directory);
  const reply = await send(store, form('content'), { 'content-type': type });
  t.match(reply, refused(507, 'insufficient-storage'));
  const [{ message }] = reply.body['error-list'] as [{ message: string }];
  t.match(message, /: it needs \d+ bytes, and 0 bytes are free for uploads \(uploads\.reserve is kept free\)\./);
  t.ok(Number(reply.headers.get('retry-after')) > 0, 'it says when to try again');
  t.same(footprint(store.directory), before);
  t.equal((await (await store.as('ada')).post('/v1/snap', { name: 'hello' })).status, 200, 'the rest goes on');
});

t.test('uploads that are cut off leave nothing', async (t) => {
  const store = await startStore(t);
  const before = footprint(store.directory);
  const { hostname, port } = new URL(store.url);
  const whole = form('x'.repeat(500_000));
  for (const cut of [0, 10, 100, 1000, 300_000, whole.length - 1]) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST /unscanned-upload/ HTTP/1.1\r\nHost: store\r\nContent-Type: ${type}\r\nContent-Length: ${whole.length}\r\n\r\n`,
    );
    socket.write(whole.slice(0, cut));
    await sleep(30);
    socket.destroy();
  }
  await until(() => JSON.stringify(footprint(store.directory)) === JSON.stringify(before));
  t.same(footprint(store.directory), before);
  t.match(await send(store, whole, { 'content-type': type }), { status: 200 }, 'and the store goes on');
  t.notMatch(store.log.join(''), '"level":"error"', "it is nobody's fault here");
});

/** Uploads stay a day after their client last sent anything. */
const aDay = (text: string): string => text.replace('[uploads]', '[uploads]\nunclaimed_hours = 24');

t.test('an unclaimed upload is removed in time, row and content; claimed and shared content stays', async (t) => {
  const store = await startStore(t, aDay);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  const digests = createDigestPool((options) => startWorker('src/blobs/digest-worker.ts', options));
  t.teardown(() => digests.close());
  const blobs = await diskBlobs({
    directory: store.directory,
    reserve: 0,
    digests,
    fatal: (error) => t.fail(error.message),
  });
  const job = forgetUploads(
    store.beside.records,
    blobs,
    () => store.clock.now,
    () => 24,
  );

  // Content is dated by the file system's clock, so this test's begins where that one stands.
  store.clock.now = new Date(Date.now() + 60_000);
  const [claimed, alone, shared] = [
    await ada.upload('claimed'),
    await ada.upload('alone'),
    await ada.upload('claimed'),
  ];
  await ada.post('/v1/bin/hello/revisions', { 'upload-id': claimed });
  store.clock.advance(24 * 3_600_000 - 1);
  const late = await ada.upload('late');
  t.same(await job.run(), { forgotten: 0 });
  store.clock.advance(2);
  t.same(await job.run(), { forgotten: 0 }, 'its client has sent something since');
  t.match(await ada.post('/v1/bin/hello/revisions', { 'upload-id': late }), { status: 200 });
  store.clock.advance(24 * 3_600_000);
  t.same(await job.run(), { forgotten: 2 });
  const removedAt = store.clock.now.toISOString();
  t.same(await job.run(), { forgotten: 0 });

  const place = (content: string): string => {
    const digest = createHash('sha3-384').update(content).digest('hex');
    return join(store.directory, 'blobs/sha3', digest.slice(0, 2), digest);
  };
  t.notOk(existsSync(place('alone')));
  t.ok(existsSync(place('claimed')), 'a revision needs it');
  t.ok(existsSync(place('late')));
  for (const gone of [alone, shared]) {
    const reply = await ada.post('/v1/bin/hello/revisions', { 'upload-id': gone });
    const [{ message }] = reply.body['error-list'] as [{ message: string }];
    t.equal(reply.status, 404);
    t.equal(
      message,
      `The upload '${gone}' was deleted at ${removedAt}: no package had claimed it 24 hours after its client last sent ` +
        'anything (uploads.unclaimed_hours). Send the file to /unscanned-upload/ again.',
    );
  }
});

t.test('content that is uploaded again while its upload is forgotten stays', async (t) => {
  const store = await startStore(t, aDay);
  const { records } = store.beside;
  const { blobs } = await blobStore(t, { directory: store.directory, now: () => store.clock.now });
  const upload = await store.anyone.upload('content');
  store.clock.advance(25 * 3_600_000);
  const sha3_384 = createHash('sha3-384').update('content').digest('hex');
  // Between the removal from the records and that of the file another client sends the same content, which is not
  // recorded yet.
  const remove: typeof blobs.remove = async (...args) => {
    t.equal(await records.uploads.find(upload), undefined);
    await blobs.put(Buffer.from('content'), { id: 'again' });
    return blobs.remove(...args);
  };
  const job = forgetUploads(
    records,
    { ...blobs, remove },
    () => store.clock.now,
    () => 24,
  );
  t.same(await job.run(), { forgotten: 1 });
  t.ok(await blobs.stat(sha3_384), 'it is on its way into the records');
});

t.test('content that was uploaded again shortly before its upload is forgotten stays', async (t) => {
  const store = await startStore(t, aDay);
  const { records } = store.beside;
  const { blobs } = await blobStore(t, { directory: store.directory, now: () => store.clock.now });
  await store.anyone.upload('content');
  store.clock.advance(25 * 3_600_000);
  // Another client has sent the same content, and its upload is not recorded yet.
  await blobs.put(Buffer.from('content'), { id: 'again' });
  store.clock.advance(59 * 60_000);
  const job = forgetUploads(
    records,
    blobs,
    () => store.clock.now,
    () => 24,
  );
  t.same(await job.run(), { forgotten: 1 });
  t.ok(await blobs.stat(createHash('sha3-384').update('content').digest('hex')), 'it is on its way into the records');
});
