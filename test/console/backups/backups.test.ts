// Backups and drills that an administrator begins at the page of backups.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder } from '#test/cli/process.ts';
import { after, seconds, timestamp } from '#domain/clock.ts';
import { startConsole, type ConsoleStore, type Page, type Visitor } from '#test/console/world.ts';

t.setTimeout(600_000);

type Test = Parameters<typeof startConsole>[0];

const at = '/console/backups';

const startWithFolder = (t: Test, place: string): Promise<ConsoleStore> =>
  startConsole(t, (text) => text.replace(/^# folder = .*$/m, `folder = "${place}"`));

/** Sends a form of the page, and returns the page with the result, also if the task takes longer than a response. */
async function perform(visitor: Visitor, address: string): Promise<Page> {
  const page = await visitor.send(await visitor.open(at), address);
  for (let shown = page; ; shown = await visitor.open(at)) {
    if (!shown.text.includes('A backup or a drill is running')) return shown;
  }
}

t.test('an administrator makes a backup and runs a drill, and the page shows both results', async (t) => {
  const place = folder(t);
  const store = await startWithFolder(t, place);
  const root = await store.visit('root');
  const before = await root.open(at);
  t.match(before.text, /Last backup never .*Last drill never/);
  t.match(before.text, `larder backup ${place} --increment larder backup drill ${place}`);

  const made = await perform(root, at);
  t.match(made.text, /The last backup was made .* and none was restored in a drill/);
  t.equal(readdirSync(place).length, 1);
  t.match((await perform(root, at)).text, 'has not changed since the last backup');
  t.equal(readdirSync(place).length, 1, 'so no other one was made');

  const proven = await perform(root, `${at}/drill`);
  t.match(
    proven.text,
    /Last drill .*: the backup of \d{4}-.* was restored and verified, [\d.]+ [KM]iB in \d+ seconds?/,
  );

  const { entries } = (await (await store.as('root')).get('/internal/v1/audit')).body as {
    entries: { act: string; actor: string }[];
  };
  const own = entries.filter(({ act }) => ['make_backup', 'record_drill'].includes(act));
  t.same(
    own.map(({ actor }) => actor),
    [store.ids['root'], store.ids['root']],
  );
  // The commands use the clock of the host; the list ends at the present of the store.
  store.clock.advance(Math.max(0, Date.now() - store.clock.now.getTime()) + seconds(1));
  t.match((await (await store.visit('root')).open(at)).text, /Medium .* root [\d.]+ [KM]iB/, 'and who has made it');
});

t.test('a backup that fails is refused with the reason, and the page keeps showing it', async (t) => {
  const place = join(folder(t), 'absent');
  const store = await startWithFolder(t, place);
  const root = await store.visit('root');
  const refused = await root.send(await root.open(at), at);
  t.match(refused, { status: 409, text: new RegExp(`there is no folder ${place}; mount it or make it`) });
  t.match((await root.open(at)).text, /Backups .*there is no folder/);
  mkdirSync(place);
  t.equal((await root.send(await root.open(at), `${at}/drill`)).status, 409, 'there is no backup to restore');
  t.match((await root.open(at)).text, /Failed drill \d{4}-.*: /);
});

t.test('while a backup runs, the page says so and refreshes, and no other one begins', async (t) => {
  const store = await startWithFolder(t, folder(t));
  const root = await store.visit('root');
  const before = await root.open(at);
  const now = store.clock.now;
  const [moment, endsAt, tooLate] = [0, seconds(60), seconds(120)].map((life) => timestamp(after(now, life)));
  const held = { name: 'backup of a page', holder: 'another process' };
  const term = { now: moment ?? '', endsAt: endsAt ?? '', tooLate: tooLate ?? '' };
  await store.beside.records.ephemeral(({ leases }) => leases.takeEach([held], term));
  const running = await root.open(at);
  t.match(running.text, 'A backup or a drill is running');
  t.match(running.html, 'hx-trigger="every 2s"');
  t.notMatch(running.html, `action="${at}"`);
  for (const address of [at, `${at}/drill`])
    t.match(await root.send(before, address), { status: 409, text: /Wait until it has ended/ }, address);
  store.clock.advance(seconds(61));
  t.match((await root.open(at)).html, `action="${at}"`, 'and not for ever if its process has died');
});

t.test('only an administrator begins a backup', async (t) => {
  const store = await startWithFolder(t, folder(t));
  const [root, ada] = [await store.visit('root'), await store.visit('ada')];
  t.equal((await ada.open(at)).status, 403);
  t.equal((await ada.send(await root.open(at), at)).status, 403);
});
