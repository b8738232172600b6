// snapd's own library accepts an exported validation set.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stream, type Headers } from '#assertions/format/assertion.ts';
import { buildJudge, snapdMissing } from '#test/assertions/judge.ts';
import * as world from '#test/assertions/world.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { withoutPackages } from '#test/fixtures/programs.ts';
import { larder } from '../../cli/world.ts';
import { build, withKey, sign, post } from './validation-sets-world.ts';

const skip = withoutPackages(...snapdMissing());

t.test('snapd accepts an exported set', { skip }, async (t) => {
  t.setTimeout(600_000);
  const { store, ada, id, roots } = await withKey(t);
  const file = join(store.directory, 'return.assert');
  const registered = await world.accountKey('device', store.ids.ada, 'default', { since: '2026-03-01T12:00:00Z' });
  writeFileSync(file, stream([world.storeKey, await world.account(store.ids.ada), registered]));
  t.match(await larder(`assertion import ${file} --data ${store.directory}`), { code: 0 });
  const snaps = [
    { name: 'pcx', revision: 7 },
    { name: 'other', id: 'a'.repeat(32), presence: 'optional' },
  ];
  const built = await ada.post(build, { 'account-id': store.ids.ada, name: 'base-set', sequence: 2, snaps });
  t.match(await post(ada, await sign(built.body as Headers)), { status: 201 });
  const again = await ada.post(build, { 'account-id': store.ids.ada, name: 'base-set', sequence: 2, snaps });
  t.match(await post(ada, await sign(again.body as Headers)), { status: 201 });
  await addRevision(store, id, 1);
  const digest = Buffer.from('1'.padStart(96, '0'), 'hex').toString('base64url');
  const about = { 'snap-id': id, 'snap-sha3-384': digest, 'snap-size': '1001', grade: 'stable' };
  const signed = await sign({
    type: 'snap-build',
    'authority-id': store.ids.ada,
    ...about,
    timestamp: '2026-11-20T12:00:00Z',
  });
  t.match(await ada.post(`/dev/api/snaps/${id}/builds`, { assertion: signed }), { status: 200 });

  const judge = buildJudge();
  for (const name of [`validation-set 16 ${store.ids.ada} base-set 2`, `snap-build ${digest}`]) {
    const { out } = await larder(`assertion export ${name} --data ${store.directory}`);
    const { status, stderr } = judge(out, '-trusted', roots);
    t.equal(status, 0, `${name} ${stderr}`);
    t.equal(judge(out.replace(/^timestamp: 2026-11-20/m, 'timestamp: 2026-11-19'), '-trusted', roots).status, 1);
  }
});
