// Deltas of snaps are made after a release, each is verified before it is offered, and they stay within their disk
// limit.
import t from 'tap';

import { days, hours } from '#domain/clock.ts';
import { sweepBlobs } from '#jobs/store/sweep-blobs.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { clockWhenOld } from '#test/fixtures/contents.ts';
import { largeTest } from '#test/fixtures/large.ts';
import { deltaWork, noise, offeringDeltas, snapOf } from '#test/fixtures/packages/deltas.ts';
import { pack } from '#test/review/packed.ts';
import { readFileSync } from 'node:fs';
import { larder } from '../../cli/world.ts';

t.setTimeout(600_000);

type Test = Parameters<typeof startStore>[0] & Parameters<typeof snapOf>[0];

async function withSnap(t: Test, revisions: number, options: Parameters<typeof deltaWork>[2] = {}) {
  const store = await startStore(t, offeringDeltas);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  const contents: Buffer[] = [];
  const push = async (content = snapOf(t, String(contents.length + 1))): Promise<void> => {
    contents.push(content);
    await ada.push('snap', 'hello', content);
  };
  for (let count = 0; count < revisions; count++) await push();
  const release = async (revision: number, channel = 'stable') => {
    store.clock.advance(1000);
    const reply = await ada.post('/v1/snap/hello/releases', [{ channel, revision }]);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  };
  const work = await deltaWork(t, store, options);
  const tried = async () =>
    (await store.beside.records.deltas.tried(id)).map(
      ({ source, target, sha3_384 }) => `${source} to ${target}${sha3_384 === null ? ': none' : ''}`,
    );
  return { store, ada, id, contents, push, release, tried, ...work };
}

t.test('deltas lead from the last three revisions of a channel to its current one only', async (t) => {
  const { store, release, tried, run, records } = await withSnap(t, 6);
  t.same(await run(), {}, 'nothing is released');
  for (const revision of [1, 2, 3, 4, 5]) await release(revision);
  t.same(await run(), { made: 3 });
  t.same(await tried(), ['2 to 5', '3 to 5', '4 to 5']);
  t.same(await run(), {}, 'what is made is made');
  await release(6, 'edge');
  t.same(await run(), {}, 'a channel that held nothing before');
  await release(6);
  t.same(await run(), { made: 3 });
  t.same(await tried(), ['3 to 6', '4 to 6', '5 to 6'], 'what no channel holds goes');
  await store.beside.records.writeCounters();
  t.match(await records.deltas.counted(), { made: 6, refused: 0, failed: 0 });
});

t.test('deltas lead to the revision that a fleet pins, also after the channel has moved on', async (t) => {
  const { store, release, tried, run } = await withSnap(t, 4);
  for (const revision of [1, 2]) await release(revision);
  await run();
  const fleet = (line: string) => larder(`fleet ${line} --data ${store.directory}`);
  await fleet('create pumps --model acme/pump');
  t.equal((await fleet('pin pumps snap/hello stable 2')).code, 0);
  await release(3);
  t.same(await run(), { made: 3 });
  t.same(await tried(), ['1 to 2', '1 to 3', '2 to 3', '3 to 2'], 'devices of the fleet may have any of them');
  t.equal((await fleet('pin pumps snap/hello stable 1')).code, 0);
  t.same(await run(), { made: 2 }, 'a pin is a reason to make deltas');
  t.same(await tried(), ['1 to 3', '2 to 1', '2 to 3', '3 to 1']);
});

t.test('a delta larger than 60 % of the file is not kept, nor tried again', async (t) => {
  const { push, release, tried, run } = await withSnap(t, 1);
  const yaml = "name: hello\nversion: '2'\nsummary: s\ndescription: d\narchitectures: [all]\n";
  await push(readFileSync(pack(t, { 'meta/snap.yaml': yaml, other: noise('quite another', 400_000) })));
  await release(1);
  await release(2);
  t.same(await run(), { refused: 1 });
  t.same(await tried(), ['1 to 2: none']);
  await release(1, 'edge');
  t.same(await run(), {});
});

t.test('a delta that makes another file is never offered', async (t) => {
  const { id, release, tried, run, records, blobs } = await withSnap(t, 2, {
    // One byte of its content is changed.
    maker: (maker) => ({
      ...maker,
      async *make(older, newer) {
        for await (const piece of maker.make(older, newer)) {
          const changed = Uint8Array.from(piece);
          if (changed.length > 1000) changed[500]! ^= 1;
          yield changed;
        }
      },
    }),
  });
  await release(1);
  await release(2);
  t.same(await run(), { failed: 1 });
  t.same(await tried(), ['1 to 2: none']);
  t.equal(await records.deltas.find(id, 1, 2), undefined);
  t.equal((await Array.fromAsync(blobs.list())).length, 3, 'what was made lies there until the sweep');
});

largeTest('they are needed as content, go with their revisions, and leave when they are switched off', async (t) => {
  const { store, ada, id, release, tried, run, records, blobs, settings } = await withSnap(t, 3);
  for (const revision of [1, 2, 3]) await release(revision);
  await run();
  const { sha3_384 } = (await records.deltas.find(id, 2, 3))!;
  t.ok(await records.neededContents.has(sha3_384));
  t.same(await records.neededContents.neededBy(sha3_384, 3), ['snap/hello delta from revision 2 to 3']);
  /** A time that makes all earlier content old. */
  const sweep = () => sweepBlobs(records, blobs, clockWhenOld(store)).run();
  store.clock.advance(days(2));
  t.same(await sweep(), { swept: 0 });

  await larder(`revision delete snap/hello --keep 2 --yes --data ${store.directory}`);
  t.same(await tried(), ['2 to 3'], 'of a revision that is gone');
  store.clock.advance(days(2));
  t.same(await sweep(), { swept: 2 }, 'its file, and what was made of it');
  settings.deltas = false;
  t.same(await run(), { removed: 1 });
  t.equal(await blobs.stat(sha3_384), undefined);
  settings.deltas = true;
  t.same(await run(), { made: 1 }, 'switched on again');
  await ada.post('/v1/snap/hello/releases', [{ channel: 'stable', revision: 2 }]);
  t.same(await run(), { made: 1 }, 'a channel goes back');
  t.same(await tried(), ['3 to 2']);
});

largeTest('they stay within their disk limit: the oldest releases make room', async (t) => {
  const { store, ada, id, release, tried, run, settings, records } = await withSnap(t, 2);
  await release(1);
  await release(2);
  await run();
  const { size } = (await records.deltas.find(id, 1, 2))!;
  const other = (await ada.post('/v1/snap', { name: 'other' })).body.id as string;
  for (const version of ['1', '2']) await ada.push('snap', 'other', snapOf(t, version, 'other'));
  settings.maxBytes = Math.floor(1.5 * size);
  store.clock.advance(hours(1));
  for (const revision of [1, 2]) await ada.post('/v1/snap/other/releases', [{ channel: 'stable', revision }]);
  t.same(await run(), { made: 1 });
  t.same(await tried(), []);
  t.equal((await records.deltas.tried(other)).length, 1);
  await release(1, 'edge');
  await release(2, 'edge');
  t.match(await run(), { made: 1 }, 'the newer release counts more');
  t.equal((await records.deltas.kept()).count, 1);
  settings.maxBytes = 0;
  await release(1);
  t.same(await run(), {}, 'without room nothing is tried');
});

largeTest('the installed revisions of devices are sources too', async (t) => {
  const { store, id, release, tried, run } = await withSnap(t, 6, { remember: true });
  for (const revision of [1, 2, 3, 4, 5, 6]) await release(revision);
  for (const [serial, revision] of [
    ['a', 1],
    ['b', 1],
    ['c', 6],
  ] as const) {
    const holds = [{ packageId: id, revision }];
    const at = store.clock.now.toISOString();
    store.beside.records.noteContact({ brand: 'acme', model: 'pump', serial, at, holds });
  }
  await store.beside.records.writeContacts();
  t.same(await run(), { made: 4 });
  t.same(await tried(), ['1 to 6', '3 to 6', '4 to 6', '5 to 6']);
});

t.test('a delta that a stop interrupted is made after the next start', async (t) => {
  const { store, release, tried, run } = await withSnap(t, 3, {
    maker: (maker) => ({
      ...maker,
      async *make(older, newer) {
        const pieces = maker.make(older, newer);
        yield (await pieces.next()).value!;
        await maker.close();
        yield* pieces;
      },
    }),
  });
  for (const revision of [1, 2, 3]) await release(revision);
  t.same(await run(), {});
  t.same(await tried(), []);
  const again = await deltaWork(t, store);
  t.same(await again.run(), { made: 2 });
});
