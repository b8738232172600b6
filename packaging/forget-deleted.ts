// Before a check of types: forgets declarations of deleted sources. The compiler checks the tests again only if a declaration changes, so it
// would not notice a test that imports a deleted file.
import { existsSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './bundle.ts';

const cache = join(root, 'node_modules/.cache/types');
const stale = globSync('{src,packaging}/**/*.d.ts', { cwd: cache }).filter(
  (path) => !existsSync(join(root, path.replace(/\.d\.ts$/, '.ts'))),
);
for (const path of stale) rmSync(join(cache, path));
if (stale.length > 0) rmSync(join(cache, 'test.tsbuildinfo'), { force: true });
