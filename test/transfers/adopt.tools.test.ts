// The former store of a site is adopted by three commands, from its own addresses, and its channels are the same here.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import t from 'tap';

import { changeConfig } from '#configuration/config.ts';
import { folder, newStore } from '#test/cli/process.ts';
import { rootsFile } from '#test/fixtures/packages/online-store.ts';
import { fetchTools as skip, oldStore } from './old-store.ts';

t.setTimeout(1_200_000);

const counts = process.env['LARDER_LONG'] === '1' ? { snaps: 50, charms: 20 } : { snaps: 5, charms: 2 };

t.test('a former store comes over by three commands, and no slot differs', { skip }, async (t) => {
  const { store, passwords } = await oldStore(t, counts);
  const [adopter, former] = [await newStore(t), folder(t)];
  changeConfig(join(adopter.data, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });

  t.match(await adopter.json(`transfer adopt ${former} --script`), { script: join(former, 'fetch.sh') });
  const env = { ...process.env, EVERYTHING: 'yes', STORE: store.url, CHARMHUB: store.url };
  const fetched = await promisify(execFile)('sh', [join(former, 'fetch.sh'), former], { env });
  t.match(fetched.stderr, /Next, on the host of the new store: larder transfer adopt .* --dry-run/);
  const dry = await adopter.json(`transfer adopt ${former} --dry-run`);
  t.equal(dry.gathered.length, counts.snaps + counts.charms);
  t.match(dry['needs-online'], [{ name: 'core22' }, { name: 'snapd' }], 'what its snaps stand on is named');
  t.match(await adopter.json('package list'), { packages: [] }, 'nothing has come in');
  const before = await adopter.larder(`transfer adopt ${former} --compare --json`);
  t.match(before.code, 1);
  t.equal(JSON.parse(before.out).differing.length, JSON.parse(before.out).slots);

  const came = await adopter.larder(`transfer adopt ${former} --yes --json`);
  t.match(came, { code: 0 }, came.err + came.out);
  const after = await adopter.json(`transfer adopt ${former} --compare`);
  t.same(after.differing, []);
  t.ok(after.slots >= counts.snaps + counts.charms * 2);
  t.equal((await adopter.json('package list')).packages.length, counts.snaps + counts.charms);
  const again = await adopter.larder(`transfer adopt ${former} --yes`);
  t.match(
    again,
    { code: 1, err: /has packages already/ },
    'a store that is not empty any more takes no unsigned folder',
  );
  const grep = await promisify(execFile)('grep', [
    '-rlF',
    ...passwords.flatMap((password) => ['-e', password]),
    former,
  ]).catch(() => undefined);
  t.equal(grep, undefined, 'no credential of the former store lies in the folder');
});
