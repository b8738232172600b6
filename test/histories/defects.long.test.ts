// The checkers are checked: defects that are seeded in a copy of the sources are found, those of one host.
import t from 'tap';

import { defects, SourceCopy } from './defects.ts';
import { findDefects } from './find-defects.ts';

t.setTimeout(0);

t.test('interleavings on a file find each seeded defect', (t) => findDefects(t, 'sqlite'));

t.test('each seeded defect fits the code as it is, and another text is named with its file', (t) => {
  const copy = new SourceCopy();
  t.teardown(() => copy.remove());
  for (const defect of defects) copy.patch(defect);
  t.equal(defects.length, 10);
  t.throws(() => copy.patch({ ...defects[0]!, text: 'a text of an older release' }), {
    message: /cannot seed the defect '.*': src\/\S+ has the text "a text of an older release" 0 times/,
  });
  t.end();
});
