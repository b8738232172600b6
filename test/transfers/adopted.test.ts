// Adopting a former store leaves no trust behind, and is no way around the approval of unsigned folders.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { trustSource } from '#acts/sites/sites.ts';
import { openStore } from '#data/store.ts';
import { changeConfig } from '#configuration/config.ts';
import { folder } from '#test/cli/process.ts';
import { askingSite } from '#test/fixtures/accounts/approvers.ts';
import { download, rootsFile } from '#test/fixtures/packages/online-store.ts';
import { seedOf } from './statement/example.ts';
import { offered, site } from './sites.ts';

t.setTimeout(600_000);

async function former(t: Parameters<typeof folder>[0], name = 'hello-on'): Promise<string> {
  const from = folder(t);
  await download(from, offered(name, 12));
  return from;
}

t.test('an empty store adopts a folder, and no source and no key of it is left', async (t) => {
  const siteA = await site(t, 'site-a');
  const adopted = await siteA.done(`transfer adopt ${await former(t)} --release stable --yes`);
  t.match(adopted, { lines: [{ package: 'snap/hello-on' }] });
  t.same((await siteA.done('site show')).sources, []);
  t.notOk(existsSync(join(siteA.data, 'adopting')));
  t.notOk(existsSync(join(siteA.data, 'transfers/unpacked')));
  t.match((await siteA.done('transfer list')).transfers, [{ source: 'nobody', status: 'accepted' }]);
});

t.test('a store that has packages adopts a folder only if the policy names people who approve it', async (t) => {
  const siteA = await site(t, 'site-a');
  await siteA.done(`transfer adopt ${await former(t)} --release stable --yes`);
  const refused = { code: 1, err: /This store has packages already.*unsigned_folders = "2"/ };
  t.match(await siteA.larder(`transfer adopt ${await former(t, 'other-on')} --release stable --yes`), refused);
  t.match(await siteA.larder(`transfer adopt ${await former(t, 'other-on')} --dry-run`), { code: 0 });
  t.equal((await siteA.done('transfer list')).transfers.length, 1, 'nothing was received');
});

t.test('the policy for unsigned folders applies to an adoption too', async (t) => {
  const { store, run, judge } = await askingSite(t, 'unsigned_folders = "1 of B"');
  changeConfig(join(store.directory, 'larder.toml'), { 'assertions.trusted': [rootsFile(folder(t))] });
  const adopt = `transfer adopt ${await former(t)} --release stable --yes`;
  const waits = await run(adopt);
  t.match(waits, { code: 1, err: /Waits for 1 more approval \(proposal 1,.*'larder transfer accept [0-9a-f]{12}'/ });
  t.match(await run('approval show 1'), { out: /though nobody has signed it/ });
  t.match(await run('package list --json'), { out: /"packages":\[\]/ });
  t.match(await judge('approve', 'bob', 1), { code: 0 });
  t.match(await run(adopt), { code: 0 }, 'the same folder again is what was approved');
  t.match(await run('package list --json'), { out: /hello-on/ });
});

t.test('the rest of an adoption by an earlier release is reported, and removed by the next one', async (t) => {
  const siteA = await site(t, 'site-a');
  const { publicKey } = seedOf(1);
  const store = await openStore({ directory: siteA.data });
  const source = { name: 'former-store', keys: [publicKey], threshold: 1, packages: ['*/*'], mayRelease: true };
  await store.acts.do(trustSource, { actor: 'cli:ada' }, source);
  await store.close();
  mkdirSync(join(siteA.data, 'adopting'));
  writeFileSync(join(siteA.data, 'adopting', 'collector.key'), 'secret');
  t.match(await siteA.larder('doctor'), {
    code: 1,
    out: /An earlier release adopted.*site distrust former-store/s,
  });
  t.match(await siteA.larder(`transfer adopt ${await former(t)} --release stable --yes`), { code: 0 });
  t.same((await siteA.done('site show')).sources, []);
  t.notOk(existsSync(join(siteA.data, 'adopting')));
  t.notMatch((await siteA.larder('doctor')).out, /earlier release adopted/);
});
