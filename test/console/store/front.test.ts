// The overview: for administrators of the store, and for publishers.
import { join } from 'node:path';

import t from 'tap';

import { days, minutes } from '#domain/clock.ts';
import { larder } from '#test/cli/world.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { startConsole, textOf } from '#test/console/world.ts';

t.test('an administrator sees problems first, with their remedies', async (t) => {
  const store = await startConsole(t, (text) => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0'));
  const root = await store.visit('root');
  const early = await root.open('/console');
  t.match(early, { status: 200, text: /Overview There are no problems, but there are notices./ });
  t.match(early.text, /Backups No backup was made yet\. Run 'larder backup FILE'/, 'young stores need one soon');
  t.match(early.text, /Last backup never/);

  store.clock.advance(days(8));
  await store.visit('root').then(async (later) => {
    const page = await later.open('/console');
    t.match(page.text, /There is 1 problem\. Pending 0 .* Wrong: Backups/);
    t.match(page.html, /<a class="tile warn" href="\/console\/backups"/, 'the tile is as grave as the card');
    t.ok(page.html.indexOf('card warn') < page.html.indexOf('card note'), 'the worst first');
    t.match(page.html, /aria-label="[\d.]+ .iB of [\d.]+ .iB are free"/);
    t.match(page.html, /<a class="button second" href="\/console\/backups"/, 'the card leads to its page');
    t.match(page.text, /\d+ requests?, no failures/);
  });
});

t.test('four tiles lead to pending items, backups, the disk and the certificate', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const tilesOf = ({ html }: { html: string }) =>
    [...html.matchAll(/<a class="tile (\w+)" href="([^"]+)">(.*?)<\/a>/gs)].map(([, gravity, to, inner = '']) => [
      gravity,
      to,
      textOf(inner),
    ]);
  const before = tilesOf(await root.open('/console'));
  t.match(before, [
    ['good', '/console/waiting', 'Pending 0 nothing waits for people'],
    ['note', '/console/backups', 'Last backup never make the first one'],
    [/good|note|warn/, '/console/storage', /^Disk \d+ % used [\d.]+ .iB free$/],
    ['good', '/console/settings?q=tls.', 'Certificate none plain HTTP on this machine'],
  ]);
  await larder(`backup ${join(t.testdir(), 'backup.tar')} --data ${store.directory}`);
  store.clock.advance(Date.now() - store.clock.now.getTime() + days(3));
  t.match(tilesOf(await (await store.visit('root')).open('/console'))[1], [
    'good',
    /backups/,
    /^Last backup 3 days ago recent/,
  ]);
  store.clock.advance(days(5));
  t.match(tilesOf(await (await store.visit('root')).open('/console'))[1], [
    'warn',
    /backups/,
    /^Last backup 8 days ago too/,
  ]);
});

t.test('the activity of the last day is told in sentences', async (t) => {
  const store = await startConsole(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/snap', { name: 'hello' })).body as { id: string };
  await addRevision(store, id, 2);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'edge', revision: 2 }]);
  await ada.post('/v1/snap/hello/releases', [{ channel: 'edge', revision: null }]);
  const { text } = await (await store.visit('root')).open('/console');
  t.match(text, /Activity of the last day .*ada closed latest\/edge of snap\/hello \./);
  t.match(text, /ada released snap\/hello 2 to latest\/edge \./);
  t.match(text, /ada registered snap\/hello \./);
  t.notMatch(text, /logged in/, 'sessions are left to the audit log');
  store.clock.advance(days(2));
  t.match(await (await store.visit('root')).open('/console'), { text: /No changes were made in the last day/ });
});

t.test('the requests of an hour are drawn, and forgotten after it', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  for (let at = 0; at < 3; at++) await store.anyone.get('/healthz');
  store.clock.advance(minutes(5));
  const busy = await root.open('/console');
  t.match(busy.text, /\d requests?, no failures/);
  t.equal(
    busy.html.match(/<rect\s+class="part"\s+x="/g)?.length,
    1,
    'one minute in which something was asked, and none since',
  );
  for (let at = 0; at < 3; at++) {
    store.clock.advance(minutes(25));
    await root.open('/healthz');
    await root.open('/console');
  }
  t.notMatch((await root.open('/console')).html, /x="216"/, 'what was five minutes before is over an hour ago');
});

t.test('a publisher sees own packages, and no settings of the store', async (t) => {
  const store = await startConsole(t);
  const bob = await store.visit('bob');
  const page = await bob.open('/console');
  t.match(page, { status: 200, text: /Hello, Bob/ });
  t.match(page.text, /Your account has no second factor/);
  t.notMatch(page.text, /Backup|Disk|Audit|Users/);
  await store.as('bob', { ttl: 3 * 86_400 });
  t.match((await bob.open('/console')).text, /A token ends soon/);
});

t.test('a browser at the root of the store finds links to its pages', async (t) => {
  const store = await startConsole(t);
  const page = await store.visitor().open('/');
  t.match(page, { status: 200, text: /Log in .* Documents/ });
  for (const to of ['/console', '/docs/']) t.match(page.html, `href="${to}"`);
  t.match((await store.anyone.get('/')).body, { service: 'larder' }, 'and a program what it always got');
  const bare = await startConsole(t, (text) => text.replace('# console = true', 'console = false'));
  t.notMatch((await bare.visitor().open('/')).text, /Log in/);
  t.equal((await bare.visitor().open('/console')).status, 404, 'where there is no console');
});
