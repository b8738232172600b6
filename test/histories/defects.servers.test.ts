// The checkers are checked: defects that are seeded in a copy of the sources are found, those of several hosts.
import t from 'tap';

import { findDefects } from './find-defects.ts';

t.setTimeout(0);

t.test('interleavings on a server find each seeded defect', (t) => findDefects(t, 'postgres'));
