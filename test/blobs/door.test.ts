// The contract of every engine of blobs; with LARDER_BLOBS=s3 it runs on S3.
import { randomBytes } from 'node:crypto';
import { access } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

import fc from 'fast-check';
import t from 'tap';

import { UploadHandedOver } from '#blobs/blobs.ts';
import { until } from '#test/fixtures/until.ts';
import { blobEngine, borrowed, sha3, testBlobs } from './engine.ts';
import { contentOf, digest, from, listed } from './store.ts';

const MiB = 1024 * 1024;
const all = { limit: 100 * MiB };
const placeOf = (sha3_384: string): string => `sha3/${sha3_384.slice(0, 2)}/${sha3_384}`;

t.test('a received blob is read back under its digest', async (t) => {
  const now = new Date('2026-05-04T03:02:01.234Z');
  const { blobs, places } = await testBlobs(t, { now: () => now });
  const bytes = randomBytes(3 * MiB + 17);
  const taken = await blobs.receive(from(bytes.subarray(0, MiB), bytes.subarray(MiB)), { id: 'u1', ...all });
  t.same(taken, { size: bytes.length, sha3_384: sha3(bytes), sha256: digest('sha256', bytes) });
  t.same(await places(), [placeOf(taken.sha3_384)]);

  const whole = await blobs.open(taken.sha3_384);
  t.equal(whole?.size, bytes.length);
  t.ok(whole && bytes.equals(await contentOf(whole.stream)));
  for (const [start, end] of [
    [5, 1_000_000],
    [0, 0],
    [bytes.length - 1, bytes.length - 1],
  ] as const) {
    const part = await blobs.open(taken.sha3_384, { start, end });
    t.equal(part?.size, bytes.length);
    t.ok(part && bytes.subarray(start, end + 1).equals(await contentOf(part.stream)), `${start} to ${end}`);
  }
  t.ok(bytes.equals(await borrowed(blobs, taken.sha3_384)));
  t.equal(await blobs.prove(taken.sha3_384), true);

  const stored = await blobs.stat(taken.sha3_384);
  t.same(stored, { sha3_384: taken.sha3_384, size: bytes.length, storedAt: now });
  t.match(await listed(blobs.list()), [{ sha3_384: taken.sha3_384, size: bytes.length }]);
  t.same(await places(), [placeOf(taken.sha3_384)], 'nothing is left of reading and lending');
});

t.test('another process serves a received blob, whole or in part', async (t) => {
  const { blobs, beside: openAlongside } = await testBlobs(t);
  const bytes = randomBytes(300_000);
  const { sha3_384 } = await blobs.receive(from(bytes), { id: 'u1', ...all });
  t.match(await (await openAlongside()).stat(sha3_384), { size: bytes.length });
  const whole = await (await openAlongside()).open(sha3_384);
  t.ok(bytes.equals(await contentOf(whole!.stream)));
  const part = await (await openAlongside()).open(sha3_384, { start: 7, end: 9 });
  t.ok(bytes.subarray(7, 10).equals(await contentOf(part!.stream)));
});

t.test('an empty file and a few bytes are blobs like any other', async (t) => {
  const { blobs } = await testBlobs(t);
  const empty = await blobs.receive(from(), { id: 'u1', ...all });
  t.same(empty, { size: 0, sha3_384: digest('sha3-384'), sha256: digest('sha256') });
  const opened = await blobs.open(empty.sha3_384);
  t.equal(opened && (await contentOf(opened.stream)).length, 0);
  await t.rejects(blobs.open(empty.sha3_384, { start: 0, end: 0 }), RangeError);

  const icon = randomBytes(5000);
  const put = await blobs.put(icon, { id: 'u2' });
  t.same(put, await blobs.receive(from(icon), { id: 'u3', ...all }));
  await t.rejects(blobs.put(Buffer.alloc(4 * MiB + 1), { id: 'u4' }), { message: /cannot put more/ });
});

t.test('the digests do not depend on how the bytes arrive', async (t) => {
  const { blobs, places } = await testBlobs(t);
  let nth = 0;
  const chunk = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.nat({ max: 700_000 }).map((length) => new Uint8Array(length).fill(length)),
  );
  const runs = process.env['LARDER_LONG'] === '1' ? 400 : blobEngine === 's3' ? 10 : 40;
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 12 }), async (chunks) => {
      const taken = await blobs.receive(from(...chunks), { id: `u${++nth}`, ...all });
      t.same(
        taken,
        {
          size: Buffer.concat(chunks).length,
          sha3_384: digest('sha3-384', ...chunks),
          sha256: digest('sha256', ...chunks),
        },
        { diagnostic: false },
      );
      const opened = await blobs.open(taken.sha3_384);
      return opened !== undefined && Buffer.concat(chunks).equals(await contentOf(opened.stream));
    }),
    { numRuns: runs },
  );
  t.notMatch((await places()).join('\n'), /tmp/);
});

t.test('a file over the limit is refused and leaves nothing', async (t) => {
  const { blobs, places } = await testBlobs(t);
  const exact = await blobs.receive(from(Buffer.alloc(1000)), { id: 'u1', limit: 1000 });
  t.equal(exact.size, 1000);
  await t.rejects(blobs.receive(from(Buffer.alloc(1000), Buffer.alloc(1)), { id: 'u2', limit: 1000 }), {
    code: 'request-too-large',
    message: 'The file is larger than the 1000 bytes this store accepts.',
  });
  t.same(await places(), [placeOf(exact.sha3_384)]);
});

t.test('a source that breaks off leaves nothing, and neither does content that is refused', async (t) => {
  const { blobs, places } = await testBlobs(t);
  async function* broken() {
    yield [randomBytes(3 * MiB)];
    await delay(20);
    yield [randomBytes(3 * MiB)];
    throw new Error('gone');
  }
  await t.rejects(blobs.receive(broken(), { id: 'u1', ...all }), { message: 'gone' });
  const accept = (): never => {
    throw new Error('not this');
  };
  await t.rejects(blobs.receive(from(Buffer.from('hello')), { id: 'u1', ...all, accept }), { message: 'not this' });
  t.same(await places(), []);
  await blobs.receive(from(Buffer.from('hello')), { id: 'u1', ...all });
});

t.test('an upload is continued by another process', async (t) => {
  const { blobs, beside: openAlongside, places } = await testBlobs(t);
  async function* first() {
    yield [Buffer.from('hel')];
    yield [];
    throw new UploadHandedOver();
  }
  await t.rejects(blobs.receive(first(), { id: 'u1', ...all }), {
    message: 'another process continues this upload',
  });
  t.match(await places(), [/^(?:tmp\/u1|arriving\/u1\/.*)$/]);
  const taken = await (await openAlongside()).receive(from(Buffer.from('lo')), { id: 'u1', resume: 3, ...all });
  t.equal(taken.sha3_384, sha3(Buffer.from('hello')));
  t.same(await contentOf((await blobs.open(taken.sha3_384))!.stream), Buffer.from('hello'));
});

t.test('the same content is stored once, for any number of concurrent uploads', async (t) => {
  const { blobs, places } = await testBlobs(t);
  const bytes = randomBytes(2 * MiB);
  const takes = Array.from({ length: 8 }, (_, nth) => blobs.receive(from(bytes), { id: `u${nth}`, ...all }));
  const [first, ...others] = await Promise.all(takes);
  for (const other of others) t.same(other, first);
  t.same(await places(), [placeOf(sha3(bytes))]);
  await blobs.receive(from(bytes), { id: 'again', ...all });
  t.same(await places(), [placeOf(sha3(bytes))]);
});

t.test('a corrupt blob is never served whole, nor any of its parts; a new upload repairs it', async (t) => {
  const corruptDigests: string[] = [];
  const { blobs, overwrite, beside: openAlongside } = await testBlobs(t);
  const bytes = randomBytes(MiB + 5);
  const { sha3_384 } = await blobs.receive(from(bytes), { id: 'u1', ...all });
  const spoiled = Buffer.from(bytes);
  spoiled[77]! ^= 1;
  await overwrite(sha3_384, spoiled);

  for (const reader of [blobs, await openAlongside({ damaged: (blob) => void corruptDigests.push(blob.sha3_384) })]) {
    const opened = await reader.open(sha3_384);
    let length = 0;
    await t.rejects(
      (async () => {
        for await (const piece of opened!.stream) length += (piece as Buffer).length;
      })(),
      { message: /is corrupt/ },
    );
    t.ok(length < bytes.length, 'the last bytes never came');
    await t.rejects(reader.open(sha3_384, { start: 200_000, end: 200_001 }), { message: /is corrupt/ });
    t.equal(await reader.prove(sha3_384), false);
  }
  t.ok(corruptDigests.includes(sha3_384));
  await blobs.receive(from(bytes), { id: 'u2', ...all });
  t.equal(await blobs.prove(sha3_384), true);
  t.ok(bytes.equals(await contentOf((await blobs.open(sha3_384))!.stream)));
});

t.test('a quarantined blob is not served, can be lent for inspection, and can be restored', async (t) => {
  let now = new Date('2026-05-04T03:00:00Z');
  const { blobs, places, overwrite } = await testBlobs(t, { now: () => now });
  const bytes = Buffer.from('hello');
  const { sha3_384 } = await blobs.put(bytes, { id: 'u1' });
  await overwrite(sha3_384, Buffer.from('jello'));
  t.equal(await blobs.quarantine(sha3_384), true);
  t.equal(await blobs.quarantine(sha3_384), false);
  t.equal(await blobs.stat(sha3_384), undefined);
  t.equal(await blobs.open(sha3_384), undefined);
  t.same(await listed(blobs.list()), []);
  t.match(await blobs.quarantined.stat(sha3_384), { size: 5 });
  t.same(await borrowed(blobs.quarantined, sha3_384), Buffer.from('jello'));
  t.same(await places(), [`quarantine/${sha3_384}`]);

  await blobs.put(bytes, { id: 'u2' });
  now = new Date('2026-05-04T04:00:00Z');
  await blobs.restoreQuarantined(sha3_384);
  t.same(await places(), [placeOf(sha3_384)]);
  t.match(await blobs.stat(sha3_384), { size: 5, storedAt: now }, 'as if it were taken in now');
  t.same(await borrowed(blobs, sha3_384), Buffer.from('jello'));
  t.equal(await blobs.prove(sha3_384), false);
  await t.rejects(blobs.restoreQuarantined(sha3_384));
});

t.test('a temporary copy exists until it is released, and a missing blob has no copy', async (t) => {
  const { blobs, places } = await testBlobs(t);
  const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
  const loan = await blobs.makeLocalCopy(sha3_384);
  await access(loan.file);
  await loan.release();
  t.same(await places(), [placeOf(sha3_384)]);
  const none = await blobs.makeLocalCopy(sha3(Buffer.from('never sent')));
  await t.rejects(access(none.file), { code: 'ENOENT' });
  await none.release();
});

t.test('neither an id nor a digest can name another path', async (t) => {
  const { blobs } = await testBlobs(t);
  for (const id of ['', '../x', 'a/b', '.', 'a.b', 'x'.repeat(65), 'a\0']) {
    await t.rejects(blobs.receive(from(), { id, ...all }), { message: /the name of an upload must be/ });
  }
  const good = digest('sha3-384');
  for (const bad of ['', '..', good.toUpperCase(), good.slice(1), `${good}0`, `../${good.slice(3)}`, `${good}\n`]) {
    for (const call of [
      'makeLocalCopy',
      'stat',
      'open',
      'remove',
      'prove',
      'quarantine',
      'restoreQuarantined',
    ] as const) {
      await t.rejects(() => blobs[call](bad) as Promise<unknown>, { message: /the name of a blob must be/ }, call);
    }
  }
});

t.test('one id receives one upload at a time', async (t) => {
  const { blobs } = await testBlobs(t);
  const gate = Promise.withResolvers<void>();
  async function* waiting() {
    await gate.promise;
    yield [Buffer.from('hello')];
  }
  const first = blobs.receive(waiting(), { id: 'u1', ...all });
  await t.rejects(blobs.receive(from(), { id: 'u1', ...all }), {
    message: 'cannot receive the upload u1 twice at once',
  });
  gate.resolve();
  t.equal((await first).size, 5);
});

t.test('a missing blob is neither found nor removed', async (t) => {
  const { blobs } = await testBlobs(t);
  const unknown = digest('sha3-384', Buffer.from('never sent'));
  t.equal(await blobs.stat(unknown), undefined);
  t.equal(await blobs.open(unknown), undefined);
  t.equal(await blobs.open(unknown, { start: 0, end: 1 }), undefined);
  t.equal(await blobs.prove(unknown), false);
  t.equal(await blobs.remove(unknown), false);
  t.equal(await blobs.quarantine(unknown), false);
  t.equal(await blobs.quarantined.stat(unknown), undefined);
  t.same(await listed(blobs.list()), []);
});

t.test('a part outside the content cannot be read', async (t) => {
  const { blobs } = await testBlobs(t);
  const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
  for (const range of [
    { start: 0, end: 5 },
    { start: 5, end: 5 },
    { start: 3, end: 2 },
    { start: -1, end: 2 },
    { start: NaN, end: 2 },
  ]) {
    await t.rejects(blobs.open(sha3_384, range), RangeError);
  }
});

t.test('a blob is removed unless it was received again in between', async (t) => {
  let now = new Date('2026-05-04T03:00:00Z');
  const { blobs, places } = await testBlobs(t, { now: () => now });
  const bytes = Buffer.from('hello');
  const { sha3_384 } = await blobs.put(bytes, { id: 'u1' });
  t.equal(await blobs.remove(sha3_384, { storedBefore: now }), false);

  now = new Date('2026-05-04T04:00:00Z');
  await blobs.put(bytes, { id: 'u2' });
  t.same((await blobs.stat(sha3_384))?.storedAt, now);
  t.equal(await blobs.remove(sha3_384, { storedBefore: new Date('2026-05-04T03:59:59Z') }), false);
  t.equal(await blobs.remove(sha3_384, { storedBefore: new Date('2026-05-04T04:00:01Z') }), true);
  t.equal(await blobs.stat(sha3_384), undefined);

  await blobs.put(bytes, { id: 'u3' });
  t.equal(await blobs.remove(sha3_384), true);
  t.same(await places(), []);
});

t.test('taking in and removing the same content never cross', async (t) => {
  const { blobs } = await testBlobs(t);
  const bytes = Buffer.from('hello');
  const sha3_384 = sha3(bytes);
  for (let round = 0; round < 20; round += 1) {
    const put = blobs.put(bytes, { id: `u${round}` });
    await delay(round % 5);
    const removed = blobs.remove(sha3_384);
    await Promise.all([put, removed]);
    const stored = await blobs.stat(sha3_384);
    if (stored === undefined) t.equal(await removed, true, 'gone only because it was removed');
    else t.equal(stored.size, 5);
  }
});

t.test('a list names blobs only', async (t) => {
  const { blobs, litter } = await testBlobs(t);
  const { sha3_384 } = await blobs.put(Buffer.from('hello'), { id: 'u1' });
  const folder = sha3_384.slice(0, 2);
  await litter(`sha3/${folder}/notes`);
  await litter(`sha3/${folder}/${sha3_384.startsWith('0') ? '1' : '0'}${sha3_384.slice(1)}`);
  await litter('sha3/notes');
  t.same(
    (await listed(blobs.list())).map((stored) => stored.sha3_384),
    [sha3_384],
  );
});

t.test('a sweep removes blobs without a claim and without an upload', async (t) => {
  const { blobs, leave, places } = await testBlobs(t);
  for (const id of ['dead', 'live']) await leave(id);
  const gate = Promise.withResolvers<void>();
  async function* waiting() {
    yield [Buffer.from('hel')];
    await gate.promise;
    yield [Buffer.from('lo')];
  }
  const running = blobs.receive(waiting(), { id: 'running', ...all });
  await until(async () => (await places()).includes('tmp/running'));
  t.equal(await blobs.sweepTemporary((id) => id === 'live'), 1);
  t.same(await places(), ['tmp/live', 'tmp/running']);
  gate.resolve();
  t.equal((await running).size, 5);
  t.equal(await blobs.sweepTemporary(async () => false), 1);
});
