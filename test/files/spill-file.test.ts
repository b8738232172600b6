// A spill file returns its content in order, and no other process finds it.
import { readdirSync } from 'node:fs';

import fc from 'fast-check';
import t from 'tap';

import { SpillFile, withSpillFile } from '#files/spill-file.ts';
import { anyCharacter } from '#test/fixtures/characters.ts';

t.test('texts are read as they were added, in any order, from memory and from a file', (t) => {
  const folder = t.testdir();
  const texts = fc.array(fc.tuple(fc.string({ unit: anyCharacter, maxLength: 40 }), fc.nat(40_000)), { maxLength: 60 });
  fc.assert(
    fc.property(texts, fc.infiniteStream(fc.nat()), (some, random) => {
      const spool = new SpillFile(folder);
      const added = some.map(([text, times]) => {
        const whole = text
          .toWellFormed()
          .repeat(times % 977)
          .slice(0, times)
          .toWellFormed();
        return { whole, ...spool.add(times % 2 === 0 ? whole : Buffer.from(whole)) };
      });
      for (let looks = 0; looks < added.length; looks++) {
        const { whole, begin, length } = added[random.next().value % added.length]!;
        t.equal(spool.read(begin, length).toString(), whole);
      }
      // Backwards, for an item that is larger than one read, and two in a row.
      for (const { whole, begin, length } of [...added.toReversed(), ...added]) {
        t.ok(spool.read(begin, length).equals(Buffer.from(whole)));
      }
      spool.close();
    }),
    { numRuns: 20 },
  );
  t.strictSame(readdirSync(folder), []);
  t.end();
});

t.test('its file has no name, and is closed with it', async (t) => {
  const folder = t.testdir();
  const spillFile = await withSpillFile(folder, async (spool) => {
    const { begin, length } = spool.add('a'.repeat(3 * 1024 * 1024));
    t.strictSame(readdirSync(folder), []);
    t.equal(spool.read(begin, length).length, length);
    return spool;
  });
  t.throws(() => spillFile.read(0, 1), { message: /it is closed/ });
});
