// Crowds of password guesses do not keep known clients from logging in.
import t from 'tap';

import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';

const limits = { concurrency: 1, waiting: { atMost: 6, ofClient: 3, refusal: 'Too many just now; try again.' } };
const refused = { code: 'too-many-requests', status: 429, retryAfter: 2, message: 'Too many just now; try again.' };

/** A queue with work that ends on request, in the order of its start. */
function world() {
  const inTurn = createConcurrencyLimit(limits);
  const began: string[] = [];
  const gates: (() => void)[] = [];
  const come = (name: string, client: string, isFamiliar: boolean) => {
    const work = async (): Promise<string> => {
      began.push(name);
      const { promise, resolve } = Promise.withResolvers<undefined>();
      gates.push(() => {
        resolve(undefined);
      });
      await promise;
      return name;
    };
    return inTurn(work, { client, isFamiliar }).catch((error: unknown) => (error as { code: string }).code);
  };
  const settled = () => new Promise(setImmediate);
  return {
    began,
    /** Adds a client; returns its outcome. */
    stranger: (name: string, client: string) => come(name, client, false),
    known: (name: string, client: string) => come(name, client, true),
    /** Ends all work, one after the other. */
    async finish() {
      await settled();
      while (gates.length > 0) {
        gates.shift()?.();
        await settled();
      }
    },
  };
}

t.test('a client waits a few times at most, and others have room', async (t) => {
  const { stranger, finish, began } = world();
  const theirs = ['running', 'one', 'two', 'three'].map((name) => stranger(name, 'crowd'));
  t.equal(await stranger('four', 'crowd'), refused.code);
  void stranger('ada', 'elsewhere');
  await finish();
  t.same(await Promise.all(theirs), ['running', 'one', 'two', 'three']);
  t.same(began, ['running', 'one', 'two', 'three', 'ada']);
});

t.test('known clients come first, and in a full queue replace the last unknown one', async (t) => {
  const { stranger, known: addKnown, finish, began } = world();
  void stranger('running', 'a');
  const strangers = ['b1', 'b2', 'c1', 'c2', 'd1', 'd2'].map((name) => stranger(name, name.charAt(0)));
  void addKnown('ada', 'z');
  void addKnown('bob', 'z');
  await finish();
  t.equal((await Promise.all(strangers)).filter((code) => code === refused.code).length, 2);
  t.same(began.slice(0, 3), ['running', 'ada', 'bob']);
});

t.test('a known client is not kept out by others behind its address', async (t) => {
  const { stranger, known: addKnown, finish } = world();
  for (const name of ['running', 'one', 'two']) void stranger(name, 'office');
  const last = stranger('three', 'office');
  const ada = addKnown('ada', 'office');
  await finish();
  t.same([await ada, await last], ['ada', refused.code]);
});

t.test('in a full queue a client with few places comes before the last place of a client with many', async (t) => {
  const { stranger, finish } = world();
  void stranger('running', 'a');
  const crowd = ['b1', 'b2', 'b3', 'c1', 'c2', 'c3'].map((name) => stranger(name, name.charAt(0)));
  const newcomer = stranger('ada', 'z');
  await finish();
  t.equal(await newcomer, 'ada');
  t.equal((await Promise.all(crowd)).filter((code) => code === refused.code).length, 1);
});

t.test('if every client in a full queue has one place, the next unknown client is refused', async (t) => {
  const { stranger, finish } = world();
  void stranger('running', 'a');
  for (const client of ['b', 'c', 'd', 'e', 'f', 'g']) void stranger(client, client);
  t.equal(await stranger('ada', 'z'), refused.code);
  await finish();
});

t.test('a known client is never pushed out', async (t) => {
  const { known: addKnown, finish } = world();
  void addKnown('running', 'a');
  const all = ['b', 'c', 'd', 'e', 'f', 'g'].map((client) => addKnown(client, client));
  t.equal(await addKnown('ada', 'z'), refused.code);
  await finish();
  t.same(await Promise.all(all), ['b', 'c', 'd', 'e', 'f', 'g']);
});

t.test('work that fails gives its place on, and work without a turn is bounded too', async (t) => {
  const inTurn = createConcurrencyLimit(limits);
  const failing = inTurn(() => Promise.reject(new Error('no')));
  const next = inTurn(() => Promise.resolve('yes'));
  await t.rejects(failing, { message: 'no' });
  t.equal(await next, 'yes');
  const crowd = Array.from({ length: 8 }, () => inTurn(() => new Promise(setImmediate)));
  const outcomes = await Promise.allSettled(crowd);
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 7);
  t.match(
    outcomes.find(({ status }) => status === 'rejected'),
    { reason: refused },
  );
});

t.test('without a limit of waiting clients each gets its turn, in order and with bounded concurrency', async (t) => {
  const inTurn = createConcurrencyLimit({ concurrency: 2 });
  const began: number[] = [];
  let [running, maximum] = [0, 0];
  const work = async (id: number): Promise<number> => {
    began.push(id);
    maximum = Math.max(maximum, ++running);
    await new Promise(setImmediate);
    running--;
    if (id % 10 === 0) throw new Error(`no ${String(id)}`);
    return id;
  };
  const everybody = Array.from({ length: 100 }, (_, at) => at);
  const outcomes = await Promise.allSettled(everybody.map((id) => inTurn(() => work(id))));
  t.same(began, everybody, 'in their order');
  t.equal(maximum, 2, 'two at a time');
  t.equal(outcomes.filter(({ status }) => status === 'rejected').length, 10, 'what fails gives its place on');
  t.equal(await inTurn(() => work(1)), 1, 'and places are free again');
});
