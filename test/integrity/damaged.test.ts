// A byte of a blob flips on the disk: each reader is refused or cut off, and gets no corrupt byte as a valid one.
import t from 'tap';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readSync, utimesSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { createDigestPool } from '#blobs/digests.ts';
import { verifyBlob, type ReadContinuation } from '#integrity/verify-blob.ts';
import { larder } from '#test/cli/world.ts';
import { snapFixture, startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { declare, digestOf, logIn, uploadLogin } from '#test/fixtures/packages/images.ts';
import { lendCopies } from '#test/fixtures/packages/lent-copies.ts';
import { contentOf, startDigestWorker, store as blobStore } from '#test/blobs/store.ts';

const quiet = (text: string): string => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0');
const sha3 = (content: Uint8Array | string): string => createHash('sha3-384').update(content).digest('hex');
const fileOf = ({ directory }: TestAppliance, content: Uint8Array | string): string =>
  join(directory, 'blobs/sha3', sha3(content).slice(0, 2), sha3(content));

/** Turns the lowest bit of one byte over. */
function damage(file: string, at: number): void {
  const handle = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  readSync(handle, byte, 0, 1, at);
  byte[0]! ^= 1;
  writeSync(handle, byte, 0, 1, at);
  closeSync(handle);
}

async function outOfService(file: string): Promise<void> {
  while (existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20));
}

t.test('the whole of a damaged blob never comes, and no part of it at all', async (t) => {
  const reportedDigests: string[] = [];
  const { blobs } = await blobStore(t, { damaged: ({ sha3_384 }) => void reportedDigests.push(sha3_384) });
  for (const at of [0, 700_000, 2_999_999]) {
    const bytes = randomBytes(3_000_000);
    const { sha3_384 } = await blobs.receive(Readable.from([[bytes]]), {
      id: `u${at}`,
      limit: 4e6,
    });
    const part = { start: 10, end: 20 };
    const before = await blobs.open(sha3_384, part);
    t.ok(before && (await contentOf(before.stream)).equals(bytes.subarray(10, 21)));

    damage((await blobs.makeLocalCopy(sha3_384)).file, at);
    await t.rejects(blobs.open(sha3_384, part), /it is corrupt/, 'not even a part that is as it was');
    t.notOk(await blobs.prove(sha3_384));
    const whole = await blobs.open(sha3_384);
    const got: Buffer[] = [];
    await t.rejects(async () => {
      for await (const chunk of whole!.stream) got.push(chunk as Buffer);
    }, /it is corrupt/);
    t.ok(Buffer.concat(got).length < bytes.length, 'it is cut off');
    t.same(new Set(reportedDigests), new Set([sha3_384]));
    reportedDigests.length = 0;

    damage((await blobs.makeLocalCopy(sha3_384)).file, at);
    const again = await blobs.open(sha3_384, part);
    t.ok(again && (await contentOf(again.stream)).equals(bytes.subarray(10, 21)), 'what is good is served again');
    utimesSync((await blobs.makeLocalCopy(sha3_384)).file, 1, 1);
    const touched = await blobs.open(sha3_384, part);
    t.ok(
      touched && (await contentOf(touched.stream)).equals(bytes.subarray(10, 21)),
      'a file that was only touched too',
    );

    damage((await blobs.makeLocalCopy(sha3_384)).file, at);
    await blobs.receive(Readable.from([[bytes]]), { id: `again${at}`, limit: 4e6 });
    t.ok(await blobs.prove(sha3_384), 'the same content, taken in again, mends what nobody had found yet');
  }
});

t.test('a pull of a corrupt image is cut off or refused, and the blob is quarantined automatically', async (t) => {
  for (const headers of [undefined, { range: 'bytes=5-9' }]) {
    const store = await startStore(t, quiet);
    await declare(store, 'ada', 'hello');
    const client = await logIn(store, await uploadLogin(await store.as('ada'), 'hello'));
    const content = randomBytes(600_000);
    t.match(await client.blob(content), { status: 201 });
    const [place, file] = [`blobs/${digestOf(content)}`, fileOf(store, content)];
    t.match(await client.call('GET', place, undefined, { range: 'bytes=0-3' }), { status: 206 });

    damage(file, 300_000);
    const got = await client.call('GET', place, undefined, headers).catch(() => 'cut off');
    t.ok(got === 'cut off' || (got as { status: number }).status === 500, JSON.stringify(got));
    await outOfService(file);
    t.match(await store.beside.records.damagedBlobs.list(10), [{ sha3_384: sha3(content) }]);
    t.match(await client.call('HEAD', place), { status: 404 });
    t.match(await client.call('GET', place), { status: 500 });
    t.match(await client.blob(content), { status: 201 });
    t.same(await store.beside.records.damagedBlobs.list(10), []);
    t.match(
      await client.call('GET', place, undefined, { range: 'bytes=5-9' }),
      { status: 206 },
      'pushed again it is good',
    );
  }
});

t.test('an upload that was damaged while it waited is not reviewed as if it were good', async (t) => {
  const store = await startStore(t, quiet);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  const snap = await snapFixture('app-xz');
  const upload = await ada.upload(snap);
  damage(fileOf(store, snap), 500);
  const pushed = await ada.post('/v1/snap/tiny-app/revisions', { 'upload-id': upload });
  t.equal(pushed.status, 200);
  let review: { status: string } | undefined;
  do {
    await new Promise((resolve) => setTimeout(resolve, 50));
    [review] = (await ada.get(pushed.body['status-url'] as string)).body.revisions as [{ status: string }];
  } while (review.status !== 'rejected' && review.status !== 'approved');
  t.match(review, { status: 'rejected', errors: [{ code: 'review-error', message: /Push the file again/ }] });
});

t.test('a backup leaves a corrupt blob out, reports it, and exits with 1', async (t) => {
  const store = await startStore(t, quiet);
  const content = randomBytes(50_000);
  await store.anyone.upload(content);
  damage(fileOf(store, content), 1234);
  const file = join(t.testdir(), 'full.tar');
  t.match(await larder(`backup ${file} --data ${store.directory} --json`), {
    code: 1,
    out: new RegExp(`"damaged":\\["${sha3(content)}"\\]`),
  });
});

t.test('a blob with a temporary copy is verified as well, and the copy is released with any result', async (t) => {
  const { blobs, files, directory } = await blobStore(t);
  const digests = createDigestPool(startDigestWorker, 1);
  t.teardown(() => digests.close());
  const { borrow, count } = await lendCopies(t, blobs);
  const where = { makeLocalCopy: borrow, stat: blobs.stat };
  const { sha3_384 } = await blobs.put(randomBytes(100_000), { id: 'one' });
  const verdict = async (goOn?: ReadContinuation) => (await verifyBlob({ sha3_384 }, where, digests, goOn)).verdict;
  t.equal(await verdict(), 'good');
  t.equal(await verdict(() => false), 'unknown', 'who stops reads no further');
  await t.resolveMatch(
    verifyBlob(
      { sha3_384 },
      { ...where, makeLocalCopy: async () => ({ ...(await borrow(sha3_384)), file: directory }) },
      digests,
    ),
    { verdict: 'unreadable' },
  );
  damage((await blobs.makeLocalCopy(sha3_384)).file, 5);
  t.equal(await verdict(), 'damaged');
  await blobs.remove(sha3_384);
  t.equal(await verdict(), 'unknown');
  t.same(count, { lent: 6, out: 0 });
  t.same(await files(), []);
});
