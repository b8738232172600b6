// A snap and its components may take days to come, and are pushed together at the end.
import { once } from 'node:events';
import { connect } from 'node:net';

import t from 'tap';

import { hours } from '#domain/clock.ts';
import { forgetUploads } from '#jobs/uploads/forget-uploads.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { until } from '#test/fixtures/until.ts';
import { store as blobStore } from '#test/blobs/store.ts';

const boundary = 'b0undary';

t.test('received files stay while a client sends more, and go after a long pause', async (t) => {
  const store = await startStore(t, (text) => text.replace('[uploads]', '[uploads]\nunclaimed_hours = 24'));
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  const { blobs } = await blobStore(t, { directory: store.directory, now: () => store.clock.now });
  const job = forgetUploads(
    store.beside.records,
    blobs,
    () => store.clock.now,
    () => 24,
  );
  store.clock.now = new Date(Date.now() + 60_000);
  const first = await ada.upload('the snap');

  store.clock.advance(hours(1));
  const { hostname, port } = new URL(store.url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => (received += text));
  const closed = once(socket, 'close');
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="binary"; filename="f"\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const pieces = ['b', 'c', 'd', 'e'].map((letter) => letter.repeat(2_000_000));
  const length = head.length + 1 + pieces.join('').length + tail.length;
  socket.write(
    `POST /unscanned-upload/ HTTP/1.1\r\nHost: store\r\nContent-Type: multipart/form-data; boundary=${boundary}\r\n` +
      `Content-Length: ${String(length)}\r\nConnection: close\r\n\r\n${head}a`,
  );
  const noted = async (): Promise<string | undefined> =>
    (await store.beside.records.leases.find('sending 127.0.0.1'))?.endsAt;
  const day = (): string => new Date(store.clock.now.getTime() + hours(24)).toISOString();
  await until(async () => (await noted()) === day());
  for (const piece of pieces) {
    store.clock.advance(hours(20));
    socket.write(piece);
    await until(async () => (await noted()) === day());
    t.same(await job.run(), { forgotten: 0 }, 'its client is sending');
  }
  socket.write(tail);
  await closed;
  const [, second = ''] = /"upload_id":"([^"]+)"/.exec(received) ?? [];
  t.match(await ada.post('/v1/bin/hello/revisions', { 'upload-id': first }), { status: 200 });
  store.clock.advance(hours(25));
  t.same(await job.run(), { forgotten: 1 });
  t.match(await ada.post('/v1/bin/hello/revisions', { 'upload-id': second }), {
    status: 404,
    body: { 'error-list': [{ message: /was deleted at .* 24 hours after its client last sent/ }] },
  });
});

t.test('received files stay for the configured days, and for one day while the disk is nearly full', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  const { blobs } = await blobStore(t, { directory: store.directory, now: () => store.clock.now });
  let free = 100;
  const disk = { ...blobs, free: () => Promise.resolve(free), capacity: () => Promise.resolve(1000) };
  const job = forgetUploads(
    store.beside.records,
    Object.assign(Object.create(blobs) as typeof blobs, disk),
    () => store.clock.now,
    () => store.beside.config.uploads.unclaimed_hours,
  );
  store.clock.now = new Date(Date.now() + 60_000);
  const upload = await ada.upload('the snap');
  store.clock.advance(hours(71));
  t.same(await job.run(), { forgotten: 0 }, 'three days by default');
  free = 99;
  t.same(await job.run(), { forgotten: 1 });
  t.match(await ada.post('/v1/bin/hello/revisions', { 'upload-id': upload }), {
    status: 404,
    body: { 'error-list': [{ message: /was deleted at .* 24 hours after its client last sent/ }] },
  });
});
