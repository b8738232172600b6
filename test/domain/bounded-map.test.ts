import t from 'tap';

import { BoundedMap } from '#domain/bounded-map.ts';

t.test('a full map forgets the oldest entry, and no other', (t) => {
  const map = new BoundedMap<string, number>(3);
  for (const [at, key] of ['a', 'b', 'c'].entries()) map.set(key, at);
  t.equal(map.get('a'), 0, 'reading makes nothing newer');
  map.set('d', 3);
  t.same([...map.keys()], ['b', 'c', 'd']);
  map.set('b', 9).set('e', 4);
  t.same(
    [...map],
    [
      ['d', 3],
      ['b', 9],
      ['e', 4],
    ],
  );
  map.set('e', 5);
  t.equal(map.size, 3, 'what is set anew takes no room from another');
  map.delete('d');
  map.set('f', 6);
  t.same([...map.keys()], ['b', 'e', 'f']);
  t.end();
});
