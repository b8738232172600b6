// A backup that a site has signed can be checked without any of its keys.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder, newStore } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { site } from './sites.ts';

t.setTimeout(600_000);

t.test('a reader with the fingerprint of a site checks its backup without the site key', async (t) => {
  const siteA = await site(t, 'site-a');
  const file = join(folder(t), 'backup.tar');
  await siteA.done(`backup ${file}`);
  const { site: shown } = (await siteA.done('site show')) as { site: { fingerprints: [string] } };
  const [fingerprint] = shown.fingerprints;
  const elsewhere = `--data ${join(folder(t), 'nothing')}`;
  const check = (at: string, signer: string) =>
    larder(`backup ${at} --check --signed-by ${signer} --json ${elsewhere}`);
  const good = await check(file, fingerprint);
  t.equal(good.code, 0, good.err);
  t.match(JSON.parse(good.out), { good: true, 'signed-by': fingerprint });
  t.match(await siteA.larder(`backup ${file} --check`), { code: 0 }, 'and by its own site key as before');
  const stranger = await site(t, 'stranger');
  const other = ((await stranger.done('site show')) as { site: { fingerprints: [string] } }).site.fingerprints[0];
  t.match(await check(file, other), { code: 1, err: /was not signed with this key/ });
  const changed = `${file}.changed`;
  const bytes = readFileSync(file);
  const at = bytes.lastIndexOf('madeAt');
  bytes.write('1', bytes.indexOf('20', at) + 3);
  writeFileSync(changed, bytes);
  t.match(await check(changed, fingerprint), { code: 1 }, 'what was changed since is not good');
  const nameless = await newStore(t);
  const unsigned = join(folder(t), 'unsigned.tar');
  t.match(await nameless.larder(`backup ${unsigned}`), { code: 0 });
  t.match(await check(unsigned, fingerprint), { code: 1, err: /A site without a name does not sign backups/ });
});
