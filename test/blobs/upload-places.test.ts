// Places for concurrent uploads: a few for each client, and none for a client that sends nothing while others wait.
import fc from 'fast-check';
import t from 'tap';

import { minutes, seconds } from '#domain/clock.ts';
import { processName } from '#shared/processes.ts';
import { sharesOf } from '#test/fixtures/processes/shares.ts';
import { openRecords } from '#test/fixtures/records/records.ts';
import type { Chunks } from '#blobs/blobs.ts';
import { UploadPlaces, type UploadPlace } from '#blobs/upload-places.ts';

type Test = Parameters<typeof openRecords>[0];

/** Places on a clock that stands still, and senders that send on request. */
function world(limits: { ofSender: number; all: number }) {
  const clock = { now: 0 };
  const places = new UploadPlaces({ ...limits, elapsed: () => clock.now });
  const begin = async (name: string) => {
    const place = await places.take(name);
    const feed = new TransformStream<Chunks, Chunks>();
    const writer = feed.writable.getWriter();
    const watching = place.watch(feed.readable);
    let ended: string | undefined;
    const reading = (async () => {
      try {
        while ((await watching.next()).done !== true);
        ended = 'done';
      } catch (error) {
        ended = (error as { code: string }).code;
      }
    })();
    return {
      place,
      reading,
      ended: () => ended,
      /** Sends so many bytes, which are read at once. */
      send: (bytes: number) => writer.write([new Uint8Array(bytes)]),
      async finish() {
        await writer.close();
        await reading;
        place.leave();
      },
    };
  };
  return { clock, places, begin };
}

/** The started work has come to rest. */
const settled = () => new Promise(setImmediate);
const refused = { code: 'too-many-requests', status: 429, retryAfter: 10 };

t.test('a sender has so many places, and all together so many', async (t) => {
  const { begin } = world({ ofSender: 2, all: 3 });
  const [first] = [await begin('ada'), await begin('ada')];
  await t.rejects(begin('ada'), { ...refused, message: /^Too many uploads from this address/ });
  await begin('bob');
  await t.rejects(begin('carol'), { ...refused, message: /^The store is receiving too many/ });
  await first.finish();
  t.equal(first.ended(), 'done');
  await begin('carol');
  await t.rejects(begin('dora'), refused);
});

t.test('a client below a kibibyte a second for ten seconds makes room, the slowest first', async (t) => {
  const { clock, begin } = world({ ofSender: 3, all: 100 });
  const [fast, slow, slowest] = [await begin('ada'), await begin('ada'), await begin('ada')];
  for (let second = 0; second < 10; second++) {
    await fast.send(1024);
    await slow.send(512);
    clock.now += seconds(1);
  }
  await settled();
  const newcomer = await begin('ada');
  await settled();
  t.same([fast.ended(), slow.ended(), slowest.ended()], [undefined, undefined, 'too-many-requests']);
  await begin('ada');
  await settled();
  t.same([fast.ended(), slow.ended()], [undefined, 'too-many-requests']);
  await t.rejects(begin('ada'), refused, 'one that moves is never ended, nor one that has just begun');
  await newcomer.finish();
});

t.test('no client is ended while there is room, however slow it is', async (t) => {
  const { clock, begin } = world({ ofSender: 2, all: 3 });
  const upload = await begin('ada');
  clock.now += seconds(1000);
  await begin('ada');
  await begin('bob');
  await settled();
  t.equal(upload.ended(), undefined);
});

t.test('if all places are taken, the client with the most gives one up', async (t) => {
  const { clock, begin } = world({ ofSender: 3, all: 5 });
  const [bobs] = [await begin('bob'), await begin('bob')];
  const adas = [await begin('ada'), await begin('ada'), await begin('ada')];
  clock.now += seconds(10);
  await settled();
  await begin('carol');
  await settled();
  t.equal(adas.filter((upload) => upload.ended() !== undefined).length, 1);
  t.equal(bobs.ended(), undefined);
});

t.test('if the largest clients move, an upload that stands still elsewhere makes room', async (t) => {
  const { clock, begin } = world({ ofSender: 3, all: 4 });
  const busy = [await begin('ada'), await begin('ada'), await begin('ada')];
  const stuck = await begin('bob');
  clock.now += seconds(9);
  for (const upload of busy) await upload.send(20_000);
  clock.now += seconds(1);
  await settled();
  await begin('carol');
  await settled();
  t.equal(stuck.ended(), 'too-many-requests');
  t.same(
    busy.map((upload) => upload.ended()),
    [undefined, undefined, undefined],
  );
});

t.test('a client that waits for the store is not slow', async (t) => {
  const clock = { now: 0 };
  const places = new UploadPlaces({ ofSender: 1, all: 1, elapsed: () => clock.now });
  const place = await places.take('ada');
  const sent = (async function* () {
    yield [new Uint8Array(1)];
    await new Promise(() => undefined);
  })();
  const chunks = place.watch(sent);
  await chunks.next();
  clock.now += seconds(60); // the disk takes a minute for it
  await t.rejects(places.take('ada'), refused);
  const waiting = chunks.next();
  waiting.catch(() => undefined);
  await t.rejects(places.take('ada'), refused, 'and has ten seconds of its own afterwards');
  clock.now += seconds(10);
  const next: UploadPlace = await places.take('ada');
  await t.rejects(waiting, {
    code: 'too-many-requests',
    message: /slower than 1 KiB per second while other uploads waited/,
  });
  next.leave();
});

t.test('a place that is released twice is one place', async (t) => {
  const places = new UploadPlaces({ ofSender: 1, all: 1, elapsed: () => 0 });
  const place = await places.take('ada');
  place.leave();
  place.leave();
  await places.take('ada');
  await t.rejects(places.take('bob'), refused);
});

t.test('of many that come at once as many are taken as there are places', async (t) => {
  const places = new UploadPlaces({ ofSender: 4, all: 6, elapsed: () => 0 });
  const came = await Promise.allSettled(
    ['ada', 'bob', undefined].flatMap((who) => Array.from({ length: 5 }, () => places.take(who))),
  );
  t.equal(came.filter(({ status }) => status === 'fulfilled').length, 6);
});

/** The places of one store as two processes have them. */
async function twoProcesses(t: Test, limits: { ofSender: number; all: number }, clock = { now: 0 }) {
  const both = await openRecords(t, 2);
  const processes = both.map((records, at) => {
    const shares = sharesOf(records, `${processName()} ${at}`);
    return new UploadPlaces({ ...limits, elapsed: () => clock.now, shares });
  });
  t.teardown(() => {
    for (const places of processes) places.close();
  });
  const [firstPlaces, otherPlaces] = processes;
  return { records: both[0], clock, here: firstPlaces!, there: otherPlaces! };
}

t.test('two processes have the places of a sender, and all places, together', async (t) => {
  const { here: firstPlaces, there: otherPlaces } = await twoProcesses(t, { ofSender: 3, all: 4 });
  const first = await firstPlaces.take('ada');
  await firstPlaces.take('ada');
  await firstPlaces.take('ada');
  await t.rejects(otherPlaces.take('ada'), { ...refused, message: /^Too many uploads from this address/ });
  await otherPlaces.take('bob');
  await t.rejects(otherPlaces.take('carol'), { ...refused, message: /^The store is receiving too many/ });
  first.leave();
  await firstPlaces.rebalance();
  await otherPlaces.take('ada');
  await t.rejects(firstPlaces.take('carol'), refused);
});

t.test('many small uploads of one sender cost two rows together, until the last one ends', async (t) => {
  const { records, here: firstPlaces, there: otherPlaces, clock } = await twoProcesses(t, { ofSender: 32, all: 512 });
  for (let upload = 0; upload < 50; upload++) {
    (await firstPlaces.take('ada')).leave();
    await firstPlaces.rebalance();
    if (upload === 0) continue;
    t.match(await records.shares.all(), [{ amount: 1 }, { amount: 1 }]);
  }
  const many = await Promise.all(Array.from({ length: 32 }, () => firstPlaces.take('ada')));
  t.match(await records.shares.all(), [
    { name: 'uploads', amount: 32 },
    { name: 'uploads of ada', amount: 32 },
  ]);
  for (const place of many) place.leave();
  await t.rejects(otherPlaces.take('ada'), refused, 'they are given back a moment later');
  await firstPlaces.rebalance();
  (await otherPlaces.take('ada')).leave();
  clock.now += minutes(1);
  for (const places of [firstPlaces, otherPlaces, firstPlaces, otherPlaces]) await places.rebalance();
  t.same(await records.shares.all(), []);
});

t.test('an upload that stands still at one process makes room for an upload at the other', async (t) => {
  const { here: firstPlaces, there: otherPlaces, clock } = await twoProcesses(t, { ofSender: 1, all: 5 });
  const still = (await firstPlaces.take('ada')).watch(new TransformStream<Chunks, Chunks>().readable);
  const ended = t.rejects(still.next(), { code: 'too-many-requests', message: /while other uploads waited/ });
  clock.now += seconds(10);
  await firstPlaces.rebalance();
  await t.rejects(otherPlaces.take('ada'), refused);
  await firstPlaces.rebalance();
  await ended;
  await otherPlaces.take('ada');
  clock.now += seconds(10);
  await otherPlaces.rebalance();
  await firstPlaces.rebalance();
  await t.rejects(firstPlaces.take('ada'), refused, 'nobody waits any more, and the place is taken');
});

t.test('over any sequence of uploads only existing places are taken, and none is lost', async (t) => {
  const act = fc.record({
    who: fc.constantFrom('ada', 'bob', 'carol'),
    what: fc.constantFrom('begin', 'end', 'wait'),
    at: fc.constantFrom('here' as const, 'there' as const),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 40 }), async (acts) => {
      const { clock, ...both } = await twoProcesses(t, { ofSender: 2, all: 4 });
      const held = new Map<string, UploadPlace[]>();
      for (const { who, what: action, at } of acts) {
        const own = held.get(who) ?? [];
        held.set(who, own);
        if (action === 'wait') clock.now += seconds(11);
        if (action === 'end') own.shift()?.leave();
        if (action !== 'begin') continue;
        const all = [...held.values()].flat().length;
        const room = own.length < 2 && all < 4;
        const take = () => both[at].take(who).catch(() => undefined); // none waits for its sender, so none is slow
        let place = await take();
        if (place === undefined) {
          for (const places of [both.here, both.there]) await places.rebalance();
          place = await take();
        }
        if ((place !== undefined) !== room) return false;
        if (place !== undefined) own.push(place);
      }
      return true;
    }),
    { numRuns: process.env['LARDER_LONG'] === '1' ? 500 : 15 },
  );
});
