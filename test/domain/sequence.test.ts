// Lists with little of their content in memory.
import fc from 'fast-check';
import t from 'tap';

import { jsonOf, jsonTexts, mapSequence, PackedList, sequenceOf } from '#domain/sequence.ts';
import { SpillFile } from '#files/spill-file.ts';

t.test('a packed list returns its items in order, and gives the same JSON from memory and from the file', (t) => {
  const folder = t.testdir();
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 40 }), fc.boolean(), fc.nat(200), (raw, liesAside, size) => {
      const items = JSON.parse(JSON.stringify(raw)) as unknown[];
      const spool = new SpillFile(folder);
      const list = new PackedList<unknown>(liesAside ? spool : undefined);
      for (const element of items) {
        list.add(element);
        // Foreign text may be in between.
        if (liesAside) spool.add('another');
      }
      t.equal(list.byteLength, Buffer.byteLength(JSON.stringify(items)) - 2);
      t.same([...list], items);
      t.same(
        [...mapSequence(list, (element) => [element])],
        items.map((element) => [element]),
      );
      t.same(
        [list.length, list.at(0), list.at(items.length), list.at(-1)],
        [items.length, items[0], undefined, undefined],
      );
      const whole = { before: 'it', list, after: { more: 1 }, nothing: undefined };
      t.equal(jsonOf(whole), JSON.stringify({ ...whole, list: items }));
      t.equal(JSON.stringify(whole), jsonOf(whole));
      const texts = [...jsonTexts(whole, size)];
      t.equal(texts.join(''), jsonOf(whole));
      t.ok(texts.slice(0, -1).every((text) => text.length >= size));
      spool.close();
    }),
    { numRuns: 50 },
  );
  t.end();
});

t.test('items that are larger than a page, or fill many, are given whole', (t) => {
  for (const spool of [undefined, new SpillFile(t.testdir())]) {
    const list = new PackedList<string>(spool);
    const texts = Array.from({ length: 40 }, (_, at) => `${String(at)}ü`.repeat(at % 7 === 0 ? 400_000 : 60_000));
    for (const text of texts) list.add(text);
    t.ok(texts.every((text, at) => list.at(at) === text));
    t.equal(jsonOf({ list }), JSON.stringify({ list: texts }));
    spool?.close();
  }
  t.end();
});

t.test('a list of numbers makes each item on demand', (t) => {
  const readIndexes: number[] = [];
  const list = sequenceOf(3, (at) => (readIndexes.push(at), at * 2));
  t.same([list.at(2), list.at(3), list.length], [4, undefined, 3]);
  t.same(readIndexes, [2]);
  t.same([...list.values().map((value) => value + 1)], [1, 3, 5]);
  t.end();
});
