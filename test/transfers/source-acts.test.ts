// Changes to a source, and undoing acts, against everything that can happen between.

import t from 'tap';

import { restore } from '#acts/store/appliance.ts';
import { openStore } from '#data/store.ts';
import { readContent, writeContent } from '#test/fixtures/contents.ts';
import { site } from './sites.ts';
import { contentOf } from './statement/example.ts';
import { isLongLane, largeTest } from '#test/fixtures/large.ts';
import { offered, snapOf } from '#test/fixtures/packages/online-store.ts';
import { first, rotateCommand, second, sent, thief, third, trustCommand } from './two-of-three.ts';

t.setTimeout(600_000);

type Here = Awaited<ReturnType<typeof site>>;

const sourceOf = async (receiver: Here) => (await receiver.done('site show')).sources[0];
const keysOf = async (receiver: Here): Promise<string[]> => (await sourceOf(receiver)).keys;

async function accept(receiver: Here, { part, id }: { part: string; id: string }): Promise<void> {
  await receiver.done(`transfer receive ${part}`);
  await receiver.done(`transfer accept ${id} --yes`);
}

t.test('one signature does not rotate a source with two required keys, with any new threshold', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(trustCommand(t));
  const before = await sourceOf(receiver);
  const refused = { code: 1, err: /signed by 1 of the trusted keys of 'depot', but 2 must sign/ };
  t.match(await receiver.larder(rotateCommand(t, { keys: [thief], threshold: 1, by: [first] })), refused);
  t.match(await receiver.larder(rotateCommand(t, { keys: [thief], threshold: 1, by: [first, thief] })), refused);
  t.same(await sourceOf(receiver), before, 'keys and threshold are unchanged');
  t.match(await receiver.larder(rotateCommand(t, { keys: [third], threshold: 1, by: [first, second] })), { code: 0 });
  t.same(await keysOf(receiver), [third.publicKey]);
});

t.test(
  'two different rotations with one number prove that a key was copied, and nothing is accepted until people settle it',
  async (t) => {
    const receiver = await site(t, 'site-a');
    await receiver.done(trustCommand(t));
    await receiver.done(rotateCommand(t, { keys: [thief], by: [first, second] }));
    const waiting = await sent(t, { sequence: 1, by: [thief] });
    await receiver.done(`transfer receive ${waiting.part}`);
    const unproved = rotateCommand(t, { keys: [third], by: [first, thief] });
    t.match(
      await receiver.larder(unproved),
      { code: 1, err: /rotation 1 of 'depot', and 1 is known already/ },
      'too few have signed it',
    );
    t.notMatch((await receiver.larder('doctor')).out, /was copied/);

    const real = rotateCommand(t, { keys: [third], by: [first, second] });
    t.match(await receiver.larder(real), {
      code: 1,
      err: /prove that a key of 'depot' was copied.*'larder site distrust depot'/,
    });
    t.match(await receiver.larder('doctor'), {
      code: 1,
      out: /prove that a key of 'depot' was copied.*site distrust depot/s,
    });
    t.match(await receiver.larder(`transfer accept ${waiting.id} --yes`), {
      code: 1,
      err: /prove that a key of 'depot' was copied/,
    });
    t.match(await receiver.larder(`transfer preview ${waiting.id}`), { code: 1, out: /prove that a key/ });
    const next = rotateCommand(t, { rotation: 2, keys: [second], by: [thief] });
    t.match(await receiver.larder(next), { code: 1, err: /prove that a key/ }, 'and neither side rotates it further');
    t.match(await receiver.larder(real), { code: 1, err: /prove that a key/ }, 'the same again says the same');

    const settled = await receiver.larder(trustCommand(t, { keys: [third], threshold: 1 }));
    t.match(settled, {
      code: 0,
      out: /number 1, waits here and cannot be accepted: The transfer is signed with 0 of the keys/,
    });
    t.notMatch((await receiver.larder('doctor')).out, /was copied/);
    await receiver.done(`transfer discard ${waiting.id}`);
    await accept(receiver, await sent(t, { sequence: 2, by: [third] }));
  },
);

t.test('a later rotation proves a copied key by the keys just before it, and not by earlier ones', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(trustCommand(t));
  await receiver.done(rotateCommand(t, { keys: [third], by: [first, second] }));
  await receiver.done(rotateCommand(t, { rotation: 2, keys: [thief], by: [third] }));
  const other = (signers: (typeof first)[]) => rotateCommand(t, { rotation: 2, keys: [second], by: signers });
  t.match(await receiver.larder(other([first, second])), {
    code: 1,
    err: /rotation 2 of 'depot', and 2 is known already/,
  });
  t.match(await receiver.larder(other([third])), { code: 1, err: /prove that a key of 'depot' was copied/ });
});

t.test('a transfer with a number that is known is refused, and so is every lower one', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(trustCommand(t));
  const [original, same] = [await sent(t, { sequence: 5 }), await sent(t, { sequence: 5, revisions: [1, 2] })];
  await receiver.done(`transfer receive ${original.part}`);
  await receiver.done(`transfer receive ${same.part}`);
  await receiver.done(`transfer accept ${original.id} --yes`);
  const refused = { code: 1, err: /The transfer has number 5 of 'depot', and number 5 was already accepted/ };
  t.match(await receiver.larder(`transfer accept ${same.id} --yes`), refused);
  t.match(await receiver.larder(`transfer receive ${same.part}`), refused);
  t.match(await receiver.larder(`transfer preview ${same.id}`), { code: 1, out: /number 5 was already accepted/ });
  t.match(await receiver.larder(`transfer receive ${(await sent(t, { sequence: 4 })).part}`), {
    code: 1,
    err: /number 4 of/,
  });
});

t.test('a very high number is shown before it is accepted, and the floor that it leaves can be reset', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(trustCommand(t));
  await accept(receiver, await sent(t, { sequence: 7 }));
  const high = await sent(t, { sequence: Number.MAX_SAFE_INTEGER, revisions: [1, 2] });
  await receiver.done(`transfer receive ${high.part}`);
  t.match(
    (await receiver.larder(`transfer preview ${high.id}`)).out,
    /number 9007199254740991 is far above the last accepted one, 7/,
  );
  await receiver.done(`transfer accept ${high.id} --yes`);
  const next = await sent(t, { sequence: 8, revisions: [1, 2, 3] });
  t.match(await receiver.larder(`transfer receive ${next.part}`), {
    code: 1,
    err: /number 9007199254740991 was already accepted/,
  });
  t.match(await receiver.larder('site reset-floor depot --yes'), { code: 2 });
  t.match(await receiver.larder('site reset-floor depot --to 7'), { code: 2 }, 'it asks first');
  t.match(await receiver.larder('site reset-floor other --to 7 --yes'), {
    code: 1,
    err: /does not trust a source 'other'/,
  });
  t.match(await receiver.done('site reset-floor depot --to 7 --yes'), { floor: 7 });
  t.match(await receiver.larder('site reset-floor depot --to 8 --yes'), { code: 1, err: /is 7\. Name a lower one/ });
  await receiver.done('site distrust depot --yes');
  await receiver.done(trustCommand(t));
  t.equal((await sourceOf(receiver)).floor, 7, 'a source that is trusted again has the floor that was set');
  t.match(await receiver.larder(`transfer receive ${(await sent(t, { sequence: 7, revisions: [9] })).part}`), {
    code: 1,
  });
  await accept(receiver, next);
  t.match(
    await receiver.larder(`transfer receive ${high.part}`),
    { out: /was already accepted/ },
    'what was accepted is not accepted twice',
  );
  t.match(
    (await receiver.done('audit list')).entries.map(({ action }: { action: string }) => action),
    /reset_floor/,
  );
});

t.test('a number is far above the last accepted one from 1001 numbers on', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(trustCommand(t));
  await accept(receiver, await sent(t, { sequence: 7 }));
  const preview = async (sequence: number): Promise<string> => {
    const { part, id } = await sent(t, { sequence, revisions: [1, 2] });
    await receiver.done(`transfer receive ${part}`);
    return (await receiver.larder(`transfer preview ${id}`)).out;
  };
  t.notMatch(await preview(1007), /far above/);
  t.match(await preview(1008), /number 1008 is far above the last accepted one, 7/);
});

largeTest(
  'the number of a withdrawn transfer still counts after its source is distrusted and trusted again',
  async (t) => {
    const receiver = await site(t, 'site-a');
    await receiver.done(trustCommand(t));
    await accept(receiver, await sent(t, { sequence: 1 }));
    const withdrawn = await sent(t, { sequence: 2, revisions: [1, 2] });
    await accept(receiver, withdrawn);
    await receiver.done(`transfer withdraw ${withdrawn.id} --yes`);
    await receiver.done('site distrust depot --yes');
    await receiver.done(trustCommand(t));
    t.equal((await sourceOf(receiver)).floor, 2);
    const again = await sent(t, { sequence: 2, revisions: [1, 3] });
    t.match(await receiver.larder(`transfer receive ${again.part}`), { code: 1, err: /number 2 was already accepted/ });
  },
);

t.test('a transfer that waits while the store is restored is not accepted before its floor is settled', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(trustCommand(t));
  const waiting = await sent(t, { sequence: 1 });
  await receiver.done(`transfer receive ${waiting.part}`);
  const store = await openStore({ directory: receiver.data });
  await store.acts.do(restore, { actor: 'cli:ada' }, { gone: [] });
  await store.close();
  t.match(await receiver.larder(`transfer accept ${waiting.id} --yes`), {
    code: 1,
    err: /restored from a backup.*--floor-lost/s,
  });
  await receiver.done(`transfer receive ${waiting.part} --floor-lost`);
  await receiver.done(`transfer accept ${waiting.id} --yes`);
});

t.test('a source that is changed lists the transfers of it that wait, and of no other source', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(trustCommand(t));
  await receiver.done(trustCommand(t, { site: 'other', keys: [thief], threshold: 1 }));
  const mine = await sent(t, { sequence: 3 });
  await receiver.done(`transfer receive ${mine.part}`);
  await receiver.done(`transfer receive ${(await sent(t, { sequence: 1, source: 'other', by: [thief] })).part}`);
  const [good, bad] = [
    { id: mine.id, refused: null },
    { id: mine.id, refused: /signed with 2 of the keys.*requires 3/ },
  ];
  t.match((await receiver.done(trustCommand(t))).waiting, [good]);
  t.match((await receiver.done(`${trustCommand(t)} --threshold 3`)).waiting, [bad]);
  t.match(
    (await receiver.done(`${trustCommand(t)} --packages charm/*`)).waiting,
    [good],
    'its preview names packages out of scope',
  );
  const rotated = await receiver.done(rotateCommand(t, { keys: [third], by: [first, second] }));
  t.match(rotated.waiting, [{ id: mine.id, refused: /signed with 0 of the keys/ }]);
  const ended = await receiver.done('site distrust depot --yes');
  t.match(ended.waiting, [{ id: mine.id, refused: /does not trust 'depot' any more/ }]);
  t.equal(ended.waiting.length, 1);
});

t.test('after distrust the preview reports it once, and shows the possible changes', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(trustCommand(t));
  const waiting = await sent(t, { sequence: 1 });
  await receiver.done(`transfer receive ${waiting.part}`);
  await receiver.done('site distrust depot --yes');
  const preview = await receiver.json(`transfer preview ${waiting.id}`);
  t.match(preview.problems, [{ package: 'number 1 of depot', why: /does not trust 'depot' any more/ }]);
  t.equal(preview.problems.length, 1);
  t.ok(preview.lines.length > 0);
  t.match(
    (await receiver.larder(`transfer preview ${waiting.id}`)).out,
    /^ {2}number 1 of depot: This site does not trust/m,
  );
});

t.test(
  'a transfer is withdrawn only while no later change depends on it, even if the same revision was released again',
  async (t) => {
    const between: Record<string, (here: Here) => Promise<unknown>> = {
      'the same revision was released again': (receiver) => receiver.done('release snap/hello-on 1 stable'),
      'another revision was released': async (receiver) => {
        await accept(receiver, await sent(t, { sequence: 2, revisions: [1, 2] }));
      },
      'the channel was emptied': (receiver) => receiver.done('close snap/hello-on stable'),
      'the release was accepted again': async (receiver) => {
        await receiver.done('close snap/hello-on stable');
        await accept(receiver, await sent(t, { sequence: 3 }));
      },
    };
    // The first one is what a comparison of revisions alone would miss.
    for (const [label, happen] of Object.entries(between).slice(0, isLongLane ? undefined : 1)) {
      const receiver = await site(t, 'site-a');
      await receiver.done(trustCommand(t));
      const transfer = await sent(t, { sequence: 1 });
      await accept(receiver, transfer);
      await happen(receiver);
      const held = (await receiver.done('package show snap/hello-on')) as object;
      const refused = { code: 1, err: /hello-on latest\/stable was changed after the transfer/ };
      t.match(await receiver.larder(`transfer withdraw ${transfer.id} --yes`), refused, label);
      t.same(await receiver.done('package show snap/hello-on'), held, `${label}: nothing was changed`);
    }
    const siteA = await site(t, 'site-a');
    await siteA.done(trustCommand(t));
    const transfer = await sent(t, { sequence: 1 });
    await accept(siteA, transfer);
    await siteA.done('site distrust depot --yes');
    t.match(
      await siteA.done(`transfer withdraw ${transfer.id} --yes`),
      { channels: ['latest/stable'] },
      'also of a source that is trusted no more',
    );
    t.match(await siteA.larder(`transfer withdraw ${transfer.id} --yes`), { code: 1, err: /was withdrawn already/ });
    await siteA.done(trustCommand(t));
    t.match(await siteA.larder(`transfer receive ${transfer.part}`), { out: /was already accepted, and withdrawn/ });
  },
);

t.test('content that is corrupt here is taken from a transfer that contains it', async (t) => {
  const receiver = await site(t, 'site-a');
  await receiver.done(trustCommand(t));
  await accept(receiver, await sent(t, { sequence: 1 }));
  const { 'sha3-384': sha3 } = contentOf(snapOf(offered('hello-on', 1)));
  const intact = readContent(receiver.data, sha3);
  const damaged = Buffer.from(intact);
  damaged[100]! ^= 1;
  writeContent(receiver.data, sha3, damaged);
  const again = await sent(t, { sequence: 2, revisions: [1, 2] });
  await receiver.done(`transfer receive ${again.part}`);
  t.ok(readContent(receiver.data, sha3).equals(intact), 'the intact copy was taken');
  t.match(await receiver.larder('verify'), { code: 0 });
});
