// All blobs of a store, from one place to another.
import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { copyBlobs } from '#data/move-blobs.ts';
import { listed, store, type TestStore } from '#test/blobs/store.ts';

let ids = 0;
const newId = (): string => `id-${String(ids++)}`;
const quiet = { newId, progress: () => undefined, needed: [] };
/** The blobs to copy from one place to the other. */
const between = (from: TestStore, to: TestStore) => ({
  from: from.blobs,
  to: to.blobs,
  digests: from.digests,
  ...quiet,
});
const fileOf = ({ directory }: TestStore, digest: string): string =>
  join(directory, 'blobs/sha3', digest.slice(0, 2), digest);

async function filled(t: Parameters<typeof store>[0], contents: readonly string[]) {
  const made = await store(t);
  const digests: string[] = [];
  for (const content of contents) digests.push((await made.blobs.put(Buffer.from(content), { id: newId() })).sha3_384);
  return { made, digests };
}

t.test('all blobs are copied, and existing blobs are not sent again', async (t) => {
  const { made, digests } = await filled(t, ['', 'one', 'two', 'x'.repeat(3_000_000)]);
  const to = await store(t);
  const reports: number[] = [];
  const first = await copyBlobs({ ...between(made, to), progress: (done) => reports.push(done) });
  t.match(first, { blobs: 4, bytes: 3_000_006, alreadyPresent: 0 });
  t.equal(reports.at(-1), 3_000_006);
  t.strictSame((await listed(to.blobs.list())).map(({ sha3_384 }) => sha3_384).sort(), [...digests].sort());
  for (const digest of digests) t.ok(readFileSync(fileOf(to, digest)).equals(readFileSync(fileOf(made, digest))));
  t.match(await copyBlobs(between(made, to)), { alreadyPresent: 4 });
  t.equal((await listed(made.blobs.list())).length, 4, 'and nothing is taken away');
});

t.test('an incomplete blob at the new place is sent again', async (t) => {
  const { made, digests } = await filled(t, ['one', 'two', 'three']);
  const to = await store(t);
  await copyBlobs(between(made, to));
  const [cut, changed] = [fileOf(to, digests[0]!), fileOf(to, digests[1]!)];
  truncateSync(cut, 1);
  writeFileSync(changed, 'tow');
  t.match(await copyBlobs(between(made, to)), { alreadyPresent: 1 });
  t.equal(readFileSync(cut, 'utf8'), 'one');
  t.equal(readFileSync(changed, 'utf8'), 'two');
});

t.test('an interrupted copy resumes', async (t) => {
  const { made } = await filled(t, ['one', 'two', 'three']);
  const to = await store(t);
  let left = 2;
  const ended = new Error('ended');
  const progress = (): void => {
    if (--left === 0) throw ended;
  };
  await t.rejects(copyBlobs({ ...between(made, to), progress }), ended);
  t.match(await copyBlobs(between(made, to)), { blobs: 3, alreadyPresent: 2 });
});

t.test('damage does not come along', async (t) => {
  const { made, digests } = await filled(t, ['one', 'two']);
  writeFileSync(fileOf(made, digests[0]!), 'eno');
  const to = await store(t);
  await t.rejects(copyBlobs(between(made, to)), {
    message: `the blob ${digests[0]!} is damaged; 'larder verify' names its package`,
  });
  t.notOk((await listed(to.blobs.list())).some(({ sha3_384 }) => sha3_384 === digests[0]));
  appendFileSync(fileOf(made, digests[0]!), 'more');
  await t.rejects(copyBlobs(between(made, to)));
});

t.test('quarantined blobs are moved too, and can be restored from there', async (t) => {
  const { made, digests } = await filled(t, ['one', 'two', 'three']);
  const [bad, good] = [digests[0]!, digests[1]!];
  writeFileSync(fileOf(made, bad), 'eno');
  for (const digest of [bad, good]) t.ok(await made.blobs.quarantine(digest));
  const to = await store(t);
  t.match(await copyBlobs(between(made, to)), { blobs: 1, quarantined: 2, unread: 0 });
  t.match(await copyBlobs(between(made, to)), { blobs: 1, alreadyPresent: 1, quarantined: 2 }, 'also again');
  const held = (await listed(to.blobs.quarantined.list())).map(({ sha3_384 }) => sha3_384).sort();
  t.strictSame(held, [bad, good].sort());
  t.strictSame(to.failures, []);
  const lent = async (digest: string): Promise<string> =>
    readFileSync((await to.blobs.quarantined.makeLocalCopy(digest)).file, 'utf8');
  t.strictSame([await lent(bad), await lent(good)], ['eno', 'two']);
  await to.blobs.restoreQuarantined(good);
  t.equal(await to.blobs.prove(good), true);

  rmSync(join(made.directory, 'blobs/quarantine', good));
  mkdirSync(join(made.directory, 'blobs/quarantine', good));
  t.match(await copyBlobs(between(made, to)), { quarantined: 1 }, 'what is no file is none of them');
});

t.test('blobs that the records need and no list names are copied', async (t) => {
  const { made, digests } = await filled(t, ['one', 'two']);
  const to = await store(t);
  const late = { ...made.blobs, list: async function* () {} };
  const moved = await copyBlobs({ ...between(made, to), from: late, needed: [digests[1]!, 'f'.repeat(96)] });
  t.match(moved, { blobs: 1, bytes: 3 });
  t.ok(await to.blobs.stat(digests[1]!));
});
