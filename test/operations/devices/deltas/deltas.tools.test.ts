// snapd's own client takes a delta, and rebuilds the snap with xdelta3.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';
import { buildClient, snapdClientMissing } from '#test/assertions/judge.ts';
import { offeringDeltas } from '#test/fixtures/packages/deltas.ts';
import { freePort } from '#test/fixtures/free-port.ts';
import { withoutPackages, withoutPrograms } from '#test/fixtures/programs.ts';
import { until } from '#test/fixtures/until.ts';
import { withDelta } from './deltas-world.ts';

const skip = withoutPackages(...snapdClientMissing()) || withoutPrograms('xdelta3');

t.test("snapd's own client takes it, and makes the file of it by xdelta3", { skip }, async (t) => {
  const client = buildClient();
  const port = await freePort();
  const { store, id, contents } = await withDelta(t, (text) =>
    offeringDeltas(text).replace('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll(':8080', `:${port}`),
  );
  const root = mkdtempSync(join(tmpdir(), 'larder-root-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  const snaps = join(root, 'var/lib/snapd/snaps');
  mkdirSync(snaps, { recursive: true });
  writeFileSync(join(snaps, 'hello_1.snap'), contents[0]!);
  const file = join(root, 'hello_2.snap');
  const output = await client(store.url, 'delta', id, '1', root, file);
  t.match(output, { status: 0, result: { Revision: 2, Deltas: ['xdelta3 1 to 2'] } }, output.stderr);
  t.same(readFileSync(file), contents[1]);
  const { records } = store.beside;
  await until(async () => (await records.deltas.counted()).served === 1);
  t.match(await records.deltas.counted(), { served: 1, whole: 0 }, 'by what changed, and not by the whole file');

  writeFileSync(join(snaps, 'hello_1.snap'), 'something else');
  rmSync(file);
  t.match(await client(store.url, 'delta', id, '1', root, file), { status: 0 });
  t.same(readFileSync(file), contents[1], 'where that fails it fetches the whole');
});
