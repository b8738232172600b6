// A store that could not be made to the end is none, and the next attempt makes it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { isOfUnfinishedStore, makeStore, unfinished } from '#data/new-store.ts';
import { initialConfig, readConfig } from '#configuration/config.ts';

const newStore = (configuration: string) => ({
  configuration,
  email: 'ann@site.example',
  credential: 'a credential',
  actor: { actor: 'cli:ann' },
});

t.test('an unfinished store counts as no store, and gives way to the next attempt', async (t) => {
  const directory = t.testdir();
  const common = {
    baseUrl: 'https://store.site',
    listen: '127.0.0.1:0',
    storeAdminId: 'larder-admin',
    storeAdminDigest: '0'.repeat(96),
  };
  const nowhere = { certificateFile: join(directory, 'none.pem'), keyFile: join(directory, 'none.key') };
  const broken = initialConfig({ ...common, siteFiles: nowhere });
  await t.rejects(makeStore(directory, newStore(broken)), /none\.(?:pem|key)/);
  const left = readdirSync(directory);
  t.notOk(left.includes('larder.toml'), 'the configuration comes last');
  t.ok(left.includes(unfinished) && left.includes('larder.db'), 'the rest was made');
  t.same(
    left.filter((name) => !isOfUnfinishedStore(name)),
    [],
    'and is known as what an attempt leaves',
  );

  const { siteKey, tls } = await makeStore(directory, newStore(initialConfig(common)));
  t.equal(siteKey.length, 32);
  t.same(tls?.hosts, ['store.site']);
  t.equal(readConfig(join(directory, 'larder.toml')).http.base_url, 'https://store.site');
  t.notOk(readdirSync(directory).includes(unfinished));
});
