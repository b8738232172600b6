// The store as an administrator sees it: storage, settings, backups, devices, brands.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { days } from '#domain/clock.ts';
import { larder } from '#test/cli/world.ts';
import { addBrand, addSigningKey } from '#test/fixtures/brands.ts';
import { startConsole } from '#test/console/world.ts';

const addresses = ['storage', 'settings', 'backups', 'devices', 'brands'].map((name) => `/console/${name}`);

t.test('only an administrator sees the settings and parts of the store', async (t) => {
  const store = await startConsole(t);
  const [root, bob] = [await store.visit('root'), await store.visit('bob')];
  for (const address of addresses) {
    t.match(await bob.open(address), { status: 403 }, address);
    t.equal((await root.open(address)).status, 200, address);
  }
});

t.test('the use of the disk', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  t.match((await root.open('/console/storage')).text, /No publisher has pushed a package yet/);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'hello' });
  await ada.push('bin', 'hello', 'x'.repeat(3000));
  const page = await root.open('/console/storage');
  t.match(page.text, /All packages use 2\.9 KiB/);
  t.match(page.html, /href="\/console\/packages\/bin\/hello"/);
  t.match(page.text, /Old revisions until they are deleted/);
  t.match(page.text, /Uploads that no package has claimed 72 hours after their last bytes uploads\. unclaimed_ hours/);
  for (const [, setting = ''] of page.html.matchAll(/href="(\/console\/settings\?q=[^"]+)"/g))
    t.notMatch((await root.open(setting)).text, /There is no such setting/, setting);
  t.match(page.text, /bin\/hello 2\.9 KiB nothing/);
  for (let number = 0; number < 11; number++) await ada.push('bin', 'hello', String(number).repeat(2048));
  store.clock.advance(days(31));
  const later = await store.visit('root');
  t.match(
    (await later.open('/console/storage')).text,
    /Old, keeping 10.*bin\/hello [\d.]+ KiB [45]\.\d KiB/,
    'two of twelve would go',
  );
});

t.test('settings have their own names, and changes since the start are marked', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  const before = await root.open('/console/settings');
  t.match(before, { text: /No setting has changed since the server started/ });
  t.match(before.text, /store_admin_macaroon_sha3_384 set /, 'of a secret only that there is one');
  t.notMatch(before.html, '0'.repeat(96));
  const file = join(store.directory, 'larder.toml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('# older_than_days = 30', 'older_than_days = 31'));
  store.appliance.reload();
  const page = await root.open('/console/settings');
  t.match(page.text, /1 setting changed since the server started/);
  t.match(page.text, /older_than_days 31 changed since the start changed from the default/);
  t.match(page.html, /<details class="group" open>\s*<summary>\s*<h2>\[revisions\]/, 'and its group is open');
});

t.test('settings are folded into groups, and found by name, description or change', async (t) => {
  const store = await startConsole(t, (text) => text.replace('# older_than_days = 30', 'older_than_days = 31'));
  const root = await store.visit('root');
  const all = await root.open('/console/settings');
  t.match(all.html, '<details class="group" >');
  t.notMatch(all.html, '<details class="group" open', 'nothing has changed since the start');
  t.match(all.text, /\[revisions\] \d settings 1 changed from the default/);
  const group = (html: string): string[] => [...html.matchAll(/<h2>\[([\w.]+)\]/g)].map(([, name = '']) => name);
  const searchPage = await root.open('/console/settings?q=OLDER_than&show=');
  t.strictSame(group(searchPage.html), ['revisions']);
  t.match(searchPage.html, '<details class="group" open');
  t.notMatch((await root.open('/console/settings?show=set')).text, 'forget_after_days');
  t.match((await root.open('/console/settings?show=set')).text, 'older_than_days');
  t.match((await root.open('/console/settings?show=changed')).text, /There is no such setting/);
  t.equal((await root.open('/console/settings?show=other')).status, 400);
});

t.test('devices, if they are recorded', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  t.match((await root.open('/console/devices')).text, /devices\.snap = true/);
  const open = await startConsole(t, (text) =>
    text.replace('# snap = false', 'snap = true').replace('# remember = false', 'remember = true'),
  );
  const none = await (await open.visit('root')).open('/console/devices');
  t.match(none.text, /No device has called yet\./);
  t.notMatch(none.text, /No device called in the last 30 days/, 'one empty state says it');
  const at = open.clock.now.toISOString();
  for (let number = 0; number < 51; number++) {
    const serial = `pump-${String(number).padStart(3, '0')}`;
    open.beside.records.noteContact({ brand: 'acme', model: '<b>m', serial, at, holds: [] });
  }
  await open.beside.records.writeContacts();
  const admin = await open.visit('root');
  const first = await admin.open('/console/devices');
  t.match(first.text, /pump-000 acme <b>m/);
  t.match(first.html, /<svg[^>]*aria-label="Devices that called: 51 today, 51 on the busiest of 30 days"/);
  t.match(first.text, /Day by day, in numbers .* 2026-03-01 51 0 2026-02-28 0 0/);
  t.notMatch(first.html, '<b>m', 'what a device calls itself is text');
  t.notMatch(first.text, /pump-050/);
  const [, next = ''] = /href="(\/console\/devices\?cursor=[^"]+)"/.exec(first.html) ?? [];
  t.match((await admin.open(next)).text, /pump-050/);
  t.match(await admin.open(`/console/devices/acme/${encodeURIComponent('<b>m')}/pump-003`), {
    status: 200,
    text: /pump-003 Last call now.*The device has not reported any snaps/,
  });
  t.equal((await admin.open('/console/devices/acme/m/other')).status, 404);
});

t.test('brands, with how far their keys have come', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  t.match((await root.open('/console/brands')).text, /There are no brands\..*larder brand create/);
  const brand = await addBrand(store, 'ada', ['bob']);
  const page = await root.open('/console/brands');
  t.match(page.html, `href="/console/brands/${brand}"`);
  t.match(
    (await root.open(`/console/brands/${brand}`)).text,
    /No key of the brand is registered.*larder key create A+ NAME/,
  );
  await addSigningKey(store, brand, 'rsa4096-a', 'models');
  const bob = await store.visit('bob');
  t.match((await bob.open(`/console/brands/${brand}`)).text, /not requested yet/, 'its administrator sees it too');
  const ada = await store.as('ada');
  await ada.post(`/v1/brand/${brand}/model`, { name: 'pump', series: '16' });
  t.match((await bob.open(`/console/brands/${brand}`)).text, /pump no key yet 16/);
  const keys = (await ada.get(`/v1/brand/${brand}/signing_key`)).body as { 'sha3-384': string }[];
  await ada.post(`/v1/brand/${brand}/model/pump/serial_policy`, { 'signing-key-sha3-384': keys[0]?.['sha3-384'] });
  t.match((await bob.open(`/console/brands/${brand}`)).text, /pump models 16/, 'which key signs what');
  await store.join('carol');
  t.equal((await (await store.visit('carol')).open(`/console/brands/${brand}`)).status, 404);
});

t.test('backups, and the checks of the whole store', async (t) => {
  const store = await startConsole(t);
  const root = await store.visit('root');
  t.match(await root.open('/console/backups'), {
    text: /No backup has been made yet.*No blob is known to be corrupt/,
  });
  const backups = t.testdir();
  await larder(`backup ${backups} --data ${store.directory}`);
  t.match((await root.open('/console/backups')).text, /The last backup was made .*, and none was restored in a drill/);
  await larder(`backup drill ${backups} --data ${store.directory}`);
  const page = await root.open('/console/backups');
  t.match(page.text, /The last backup was made .*, and the last drill was /);
  t.match(
    page.text,
    /Next increment none: backup\.folder or backup\.bucket makes the server add increments by itself Last drill \d{4}-.* was restored and verified, [\d.]+ [KM]iB in \d+ seconds? /,
  );
  t.match(page.html, /<pre tabindex="0">larder config set backup\.folder \/mnt\/backups\/larder<\/pre>/);
  t.notMatch(page.html, 'action="/console/backups', 'and no form that could only be refused');
  const [, settings = ''] = /href="(\/console\/settings[^"]*)"/.exec(page.html) ?? [];
  t.match((await root.open(settings)).text, /\[backup\].* folder not set/);
});

t.test('the next increment, if the server adds increments by itself', async (t) => {
  const store = await startConsole(t, (text) =>
    text
      .replace(/^# every = "5m"/m, 'every = "2h"')
      .replace(/^# folder = .*$/m, 'folder = "/mnt/absent"')
      .replace(/^# drill_days = .*$/m, 'drill_days = 90'),
  );
  const page = await (await store.visit('root')).open('/console/backups');
  t.match(
    page.text,
    /Next increment 2026-03-01 12:00 UTC if the store has changed, every 2h in \/mnt\/absent Last drill never Drills expected every 90 days/,
  );
  t.match(page.text, 'larder backup /mnt/absent --increment', 'and the command names the folder');
});
