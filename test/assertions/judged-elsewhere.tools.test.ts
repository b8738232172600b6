// The assertions of other tests are verified with the library of snapd: their files run again with it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import t from 'tap';

import { withoutPackages } from '#test/fixtures/programs.ts';
import { readImportGraph } from '#test/runner/import-graph.ts';
import { allTestFiles, laneOf, root } from '#test/runner/lanes.ts';
import { snapdMissing } from './judge.ts';

const skip = withoutPackages(...snapdMissing());
const graph = readImportGraph();
const files = allTestFiles().filter(
  (file) => ['tests', 'long'].includes(laneOf(file)) && graph.get(file)?.text.includes('requestedJudge()') === true,
);

t.setTimeout(900_000);

t.test("snapd's own library accepts the assertions of other tests", { skip }, async (t) => {
  t.ok(files.length >= 8);
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'test/run.ts'), ...files], {
    encoding: 'utf8',
    env: { ...process.env, LARDER_JUDGE: 'snapd' },
    maxBuffer: 1e8,
  });
  t.equal(status, 0, stdout);
});
