// Releases of larder in the console: their line, and what the release changes, before they are accepted.
import { join } from 'node:path';

import t from 'tap';

import { version as installed } from '#platform/version.ts';
import { folder } from '#test/cli/process.ts';
import { startConsole } from '#test/console/world.ts';
import { buildIn, forced, keysOf, makeRelease, newSigner } from '#test/transfers/larder-release/releases.ts';
import { done } from './carrying.ts';

t.test('the page of a transfer shows a release of larder, and an administrator accepts it', async (t) => {
  const place = folder(t);
  const signer = newSigner(place);
  buildIn(t, keysOf(signer));
  const release = makeRelease(place, signer, {
    texts: { 'CHANGELOG.md': '## [1.2.0] - 2026-03-01\n- New <b>bold</b>.\n' },
  });
  const store = await startConsole(t);
  store.clock.advance(Date.now() - store.clock.now.getTime());
  const on = `--data ${store.directory}`;
  await done(`site init here ${on}`);
  const { id, file, trust } = await forced(join(place, 'stick'), release);
  await done(`${trust} ${on}`);
  await done(`transfer receive ${file} ${on}`);
  const root = await store.visit('root');
  const address = `/console/carry/transfers/${id}`;
  const page = await root.open(address);
  t.match(
    page.text,
    new RegExp(`larder/1\\.2\\.0 1 change .* release ${installed.replaceAll('.', '\\.')} is installed`),
  );
  t.match(page.text, /1\.2\.0 of 2026-03-01 is kept, manifest sha256: [0-9a-f]{64} source new release of larder/);
  t.match(page.text, /Changes of larder from \S+ to 1\.2\.0 1\.2\.0: New <b>bold<\/b>\./);
  t.notMatch(page.html, /<b>bold/, 'as text');
  t.match(page.text, /Components that differ .* Unknown: the installed program or the release has no readable bill/);
  t.match(page.text, /Vulnerabilities that larder 1\.2\.0 fixes, as its OpenVEX statements say none/);
  const client = await store.as('root');
  const { body } = await client.get(`/internal/v1/transfers/${id}`);
  t.match(body, { 'larder-releases': [{ version: '1.2.0', installed, components: null, fixed: [] }] });
  const accepted = await root.send(page, `${address}/accept`, { seen: body.digest });
  t.match((await done(`release list ${on}`)).releases, [{ version: '1.2.0' }], accepted.text);
  t.match((await root.open(address)).text, /This transfer was accepted\. .*larder\/1\.2\.0/);
});
