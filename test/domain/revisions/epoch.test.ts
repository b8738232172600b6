import fc from 'fast-check';
import t from 'tap';

import { canRead, firstEpoch, readEpoch } from '#domain/revisions/epoch.ts';

// The cases of snapd's own test (snap/epoch_test.go), as snap.yaml writes them.
t.test('an epoch is read as snapd reads it', (t) => {
  for (const [text, read, write] of [
    [undefined, [0], [0]],
    [null, [0], [0]],
    ['0', [0], [0]],
    [0, [0], [0]],
    ['1', [1], [1]],
    ['1*', [0, 1], [1]],
    ['400*', [399, 400], [400]],
    [{ read: [1], write: [1] }, [1], [1]],
    [{ read: ['0', '1'], write: ['1'] }, [0, 1], [1]],
    [{ read: [1, 2] }, [1, 2], [2]],
    [{ write: [1] }, [1], [1]],
    [{}, [0], [0]],
    [{ read: [1, 2, 3] }, [1, 2, 3], [3]],
    [{ read: [0], also: [1] }, [0], [0]],
    ['4294967295', [4294967295], [4294967295]],
  ] as const) {
    t.same(readEpoch(text), { read, write }, JSON.stringify(text));
  }
  t.end();
});

t.test('an invalid epoch is refused with its mistake', (t) => {
  for (const text of [
    ...['', '0*', '1**', '-1', '1.5', '01', 'one', '1 ', '9999999999', true, [], [0]],
    ...[{ read: [] }, { read: 'x' }, { read: [1, 1] }, { read: [2, 1] }, { read: [0], write: [1] }],
    ...['4294967296', { read: Array.from({ length: 11 }, (_, at) => at) }],
  ]) {
    t.equal(readEpoch(text), undefined, JSON.stringify(text));
  }
  t.end();
});

const rising = fc.uniqueArray(fc.nat(30), { minLength: 1, maxLength: 10 }).map((list) => list.sort((a, b) => a - b));

t.test('a valid epoch can read itself', (t) => {
  fc.assert(
    fc.property(rising, rising, (read, write) => {
      const epoch = readEpoch({ read, write });
      if (epoch === undefined) return;
      t.same(epoch, { read, write });
      t.ok(canRead(epoch, epoch));
    }),
  );
  t.ok(canRead(readEpoch('1*')!, firstEpoch), 'the next one reads the data of the one before');
  t.notOk(canRead(readEpoch('2*')!, firstEpoch), 'and the one after that does not');
  t.end();
});
