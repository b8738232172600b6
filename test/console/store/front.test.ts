// The front page: for administrators of the store, and for publishers.
import { join } from 'node:path';

import t from 'tap';

import { days, minutes } from '#domain/clock.ts';
import { larder } from '#test/cli/world.ts';
import { startConsole } from '#test/console/world.ts';

t.test('an administrator sees problems first, with their remedies', async (t) => {
  const store = await startConsole(t, (text) => text.replace('# scrub_rate = "20 MiB"', 'scrub_rate = 0'));
  const root = await store.visit('root');
  const early = await root.open('/console');
  t.match(early, { status: 200, text: /Front page There are no problems, but there are notices./ });
  t.match(early.text, /Backups No backup was made yet\. Run 'larder backup FILE'/, 'young stores need one soon');
  t.match(early.text, /Last backup never/);

  store.clock.advance(days(8));
  await store.visit('root').then(async (later) => {
    const page = await later.open('/console');
    t.match(page.text, /There is 1 problem\. ! Wrong: Backups/);
    t.ok(page.html.indexOf('card warn') < page.html.indexOf('card note'), 'the worst first');
    t.match(page.text, /Disk [\d.]+ .iB of [\d.]+ .iB are free/);
    t.match(page.text, /\d+ requests?, no failures/);
  });
});

t.test('how long ago the last backup was is drawn, of the time that it may take', async (t) => {
  const store = await startConsole(t);
  await larder(`backup ${join(t.testdir(), 'backup.tar')} --data ${store.directory}`);
  store.clock.advance(Date.now() - store.clock.now.getTime() + days(3));
  const page = await (await store.visit('root')).open('/console');
  t.match(page.text, /Last backup 3 days ago/);
  t.match(page.html, /aria-label="3 days ago, as a share of the allowed time"/);
  const [, width = ''] = /aria-label="3 days ago[^]*?class="part" width="([\d.]+)"/.exec(page.html) ?? [];
  t.ok(Number(width) > 42 && Number(width) < 44, width);
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
  t.notMatch(page.text, /Backup|Disk|Audit|People/);
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
