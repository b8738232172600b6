// Who may send at the same time: everybody a little, and nobody who sends nothing while others wait.
import fc from 'fast-check';
import t from 'tap';

import { seconds } from '#domain/clock.ts';
import { createPlaces, type Place } from '#blobs/places.ts';

/** Places on a clock that stands still, and senders that send when they are told to. */
function world(limits: { ofSender: number; all: number }) {
  const clock = { now: 0 };
  const places = createPlaces({ ...limits, elapsed: () => clock.now });
  const begin = (name: string) => {
    const place = places.take(name);
    const feed = new TransformStream<Uint8Array, Uint8Array>();
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
      send: (bytes: number) => writer.write(new Uint8Array(bytes)),
      async finish() {
        await writer.close();
        await reading;
        place.leave();
      },
    };
  };
  return { clock, places, begin };
}

/** What was set going has come to rest. */
const settled = () => new Promise(setImmediate);
const refused = { code: 'too-many-requests', status: 429, retryAfter: 10 };

t.test('a sender has so many places, and all together so many', async (t) => {
  const { begin } = world({ ofSender: 2, all: 3 });
  const [first] = [begin('ada'), begin('ada')];
  t.throws(() => begin('ada'), { ...refused, message: /^Too many uploads from this address/ });
  begin('bob');
  t.throws(() => begin('carol'), { ...refused, message: /^The store is receiving too many/ });
  await first.finish();
  t.equal(first.ended(), 'done');
  begin('carol');
  t.throws(() => begin('dora'), refused);
});

t.test('whoever has sent less than a kibibyte a second for ten seconds makes room, the slowest first', async (t) => {
  const { clock, begin } = world({ ofSender: 3, all: 100 });
  const [fast, slow, slowest] = [begin('ada'), begin('ada'), begin('ada')];
  for (let second = 0; second < 10; second++) {
    await fast.send(1024);
    await slow.send(512);
    clock.now += seconds(1);
  }
  await settled();
  const newcomer = begin('ada');
  await settled();
  t.same([fast.ended(), slow.ended(), slowest.ended()], [undefined, undefined, 'too-many-requests']);
  begin('ada');
  await settled();
  t.same([fast.ended(), slow.ended()], [undefined, 'too-many-requests']);
  t.throws(() => begin('ada'), refused, 'one that moves is never ended, nor one that has just begun');
  await newcomer.finish();
});

t.test('nobody is ended while there is room, however slow he is', async (t) => {
  const { clock, begin } = world({ ofSender: 2, all: 3 });
  const one = begin('ada');
  clock.now += seconds(1000);
  begin('ada');
  begin('bob');
  await settled();
  t.equal(one.ended(), undefined);
});

t.test('where all places are taken, who holds most gives one up', async (t) => {
  const { clock, begin } = world({ ofSender: 3, all: 5 });
  const [bobs] = [begin('bob'), begin('bob')];
  const adas = [begin('ada'), begin('ada'), begin('ada')];
  clock.now += seconds(10);
  await settled();
  begin('carol');
  await settled();
  t.equal(adas.filter((one) => one.ended() !== undefined).length, 1);
  t.equal(bobs.ended(), undefined);
});

t.test('when those who hold most move, one that stands still elsewhere makes room', async (t) => {
  const { clock, begin } = world({ ofSender: 3, all: 4 });
  const busy = [begin('ada'), begin('ada'), begin('ada')];
  const stuck = begin('bob');
  clock.now += seconds(9);
  for (const one of busy) await one.send(20_000);
  clock.now += seconds(1);
  await settled();
  begin('carol');
  await settled();
  t.equal(stuck.ended(), 'too-many-requests');
  t.same(
    busy.map((one) => one.ended()),
    [undefined, undefined, undefined],
  );
});

t.test('one whom the store itself makes wait is not slow', async (t) => {
  const clock = { now: 0 };
  const places = createPlaces({ ofSender: 1, all: 1, elapsed: () => clock.now });
  const place = places.take('ada');
  const sent = (async function* () {
    yield new Uint8Array(1);
    await new Promise(() => undefined);
  })();
  const chunks = place.watch(sent);
  await chunks.next();
  clock.now += seconds(60); // the disk takes a minute for it
  t.throws(() => places.take('ada'), refused);
  const waiting = chunks.next();
  waiting.catch(() => undefined);
  t.throws(() => places.take('ada'), refused, 'and has ten seconds of its own afterwards');
  clock.now += seconds(10);
  const next: Place = places.take('ada');
  await t.rejects(waiting, { code: 'too-many-requests', message: /less than 1 KiB a second while others waited/ });
  next.leave();
});

t.test('a place that was left twice is one place', (t) => {
  const places = createPlaces({ ofSender: 1, all: 1, elapsed: () => 0 });
  const place = places.take('ada');
  place.leave();
  place.leave();
  places.take('ada');
  t.throws(() => places.take('bob'), refused);
  t.end();
});

t.test('whatever comes and goes, never are more places taken than there are, nor one of them lost', (t) => {
  const act = fc.record({ who: fc.constantFrom('ada', 'bob', 'carol'), what: fc.constantFrom('begin', 'end', 'wait') });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const clock = { now: 0 };
      const places = createPlaces({ ofSender: 2, all: 4, elapsed: () => clock.now });
      const held = new Map<string, Place[]>();
      for (const { who, what } of acts) {
        const own = held.get(who) ?? [];
        held.set(who, own);
        if (what === 'wait') clock.now += seconds(11);
        if (what === 'end') own.shift()?.leave();
        if (what !== 'begin') continue;
        const all = [...held.values()].flat().length;
        const room = own.length < 2 && all < 4;
        try {
          own.push(places.take(who)); // none of them waits for its sender, so none is slow
          if (!room) return false;
        } catch {
          if (room) return false;
        }
      }
      return true;
    }),
  );
  t.end();
});
