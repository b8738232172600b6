// Increments in a folder, and the restore of a state at a moment.
import { closeSync, openSync, readdirSync, readFileSync, renameSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { findIncrementBase } from '#backup/folder.ts';
import { folderPlace } from '#backup/place.ts';
import { keepNewest, removeOldBackups } from '#cli/backups/folder.ts';
import { after, days, minutes } from '#domain/clock.ts';
import { folder as newFolder, newStore, type NewStore } from '#test/cli/process.ts';
import { larder, type Outcome } from '#test/cli/world.ts';
import { addBackupAt, readState, saved } from './saved.ts';

t.setTimeout(600_000);

interface Increment {
  file: string;
  since: string | null;
  unchanged?: true;
  'made-at': string;
  'blobs-in-this-file': number;
  'audit-head': { seq: number; hash: string };
}

interface Increments {
  store: NewStore;
  folder: string;
  keys: string;
  add(): Promise<Increment>;
  /** Restores into a new directory. */
  restore(more?: string): Promise<Outcome & { data: string }>;
}

async function increments(t: Test): Promise<Increments> {
  const store = await newStore(t);
  const folder = newFolder(t);
  let count = 0;
  return {
    store,
    folder,
    keys: store.data,
    add: () => store.json(`backup ${folder} --increment`) as Promise<Increment>,
    async restore(more = '') {
      const data = `${store.data}-${String(++count)}`;
      return { ...(await larder(`restore ${folder} --data ${data} --keys ${store.data} ${more}`)), data };
    },
  };
}

const register = (store: NewStore, name: string) =>
  store.larder(`package register snap/${name} --account larder-admin`);

const namesIn = async (data: string): Promise<string[]> => {
  const { out } = await larder(`package list --json`, { env: { LARDER_DATA: data } });
  return (JSON.parse(out) as { packages: { name: string }[] }).packages.map(({ name }) => name).sort();
};

t.test('an increment leaves out what the folder has, and none is made of an unchanged store', async (t) => {
  const { store, folder, run, keys } = await saved(t);
  const backups = newFolder(t);
  const add = async (): Promise<Increment> => {
    const { code, out, err } = await run(`backup ${backups} --increment --json`);
    t.equal(code, 0, err);
    return JSON.parse(out) as Increment;
  };
  const full = await add();
  t.match(full, { since: null, 'blobs-in-this-file': 2 });
  const names = readdirSync(backups);
  t.match(await add(), { unchanged: true, file: full.file }, 'its own entry in the log is no change');
  t.strictSame(readdirSync(backups), names);

  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'tool' });
  await ada.push('bin', 'tool', 'a tool');
  const second = await add();
  t.match(second, { 'blobs-in-this-file': 1 });
  t.not(second.since, null);
  t.match(await add(), { unchanged: true });

  const siteKey = Buffer.from(readFileSync(join(keys, 'site.key'), 'utf8'), 'base64');
  const madeAt = new Date(second['made-at']);
  t.match(await findIncrementBase(folderPlace(backups), siteKey, after(madeAt, days(6))), { file: second.file });
  t.equal(
    await findIncrementBase(folderPlace(backups), siteKey, after(madeAt, days(7))),
    undefined,
    'a full one is due',
  );
  t.match(await run(`restore ${backups} --data ${join(folder, 'data')} --keys ${keys}`), { code: 0 });
});

t.test('each moment brings back the state that the store had, and names the later changes', async (t) => {
  const { store, folder, add, restore } = await increments(t);
  const states: Increment[] = [];
  for (const name of ['one', 'two', 'three']) {
    await register(store, name);
    states.push(await add());
  }
  t.equal(readdirSync(folder).filter((name) => name.endsWith('.tar')).length, 3);
  for (const [at, names] of [['one'], ['one', 'two'], ['one', 'three', 'two']].entries()) {
    const moment = states[at]!['made-at'];
    const { code, out, err, data } = await restore(`--at ${moment}`);
    t.equal(code, 0, err);
    t.match(out, `The store of ${moment} is restored`);
    t.strictSame(await namesIn(data), names);
    if (at === 0) {
      t.match(
        out,
        /^2 later changes are in the newest backup and not in this store:\n {2}\S+: \S+ did register_name on snap\/two\n/m,
      );
      t.match(out, /did register_name on snap\/three\n/);
    }
    if (at === 2) t.notMatch(out, /later change/);
  }
  const newest = await restore();
  t.strictSame(await namesIn(newest.data), ['one', 'three', 'two'], 'without a time it is the newest');
});

t.test('a time is in UTC unless it names a zone, and before the first backup there is no state', async (t) => {
  const { store, add, restore } = await increments(t);
  await register(store, 'one');
  const { 'made-at': madeAt } = await add();
  const later = new Date(Date.parse(madeAt) + 120_000).toISOString();
  t.match(await restore(`--at "${later.slice(0, 16).replace('T', ' ')}"`), { code: 0 });
  t.match(await restore(`--at "${later.slice(0, 16).replace('T', ' ')}+01:00"`), {
    code: 1,
    err: `the oldest backup in`,
  });
  for (const wrong of ['yesterday', '2026-02-30 10:00', '2026-11-25'])
    t.match(await restore(`--at "${wrong}"`), { code: 2, err: /--at is a time in UTC such as/ }, wrong);
  t.match(await larder(`restore ${store.data}.tar --at 2026-11-25T14:05Z --data ./x --keys ${store.data}`), {
    code: 2,
    err: /--at needs a folder of backups/,
  });
});

t.test('a missing part is named, the other states can be restored, and the next backup is a full one', async (t) => {
  const { store, folder, run, keys } = await saved(t);
  const backups = newFolder(t);
  const add = async (): Promise<Increment> =>
    JSON.parse((await run(`backup ${backups} --increment --json`)).out) as Increment;
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'tool' });
  const states: Increment[] = [];
  for (const content of ['one', 'two', 'three']) {
    await ada.push('bin', 'tool', content);
    states.push(await add());
  }
  const [, second, third] = states;
  const aside = join(folder, 'aside.tar');
  renameSync(second!.file, aside);
  const restore = (at: string, name: string) =>
    larder(`restore ${backups} --at ${at} --data ${join(folder, name)} --keys ${keys}`);
  const lacking = await restore(third!['made-at'], 'refused');
  t.match(lacking, {
    code: 1,
    err: /builds on backups that are not in \S+: larder-\d{8}T\d{6}Z\.tar; bring them there/,
  });
  t.match(await restore(states[0]!['made-at'], 'first'), { code: 0 });
  await ada.push('bin', 'tool', 'four');
  t.match(await add(), { since: null }, 'the store does not build on a chain with a gap');
  renameSync(aside, second!.file);
  t.match(await restore(third!['made-at'], 'third'), { code: 0 });
});

t.test('a damaged part is named and nothing is restored from it; a cut one is no base', async (t) => {
  const { store, add, restore } = await increments(t);
  await register(store, 'one');
  const first = await add();
  await register(store, 'two');
  const second = await add();
  truncateSync(second.file, statSync(second.file).size / 2);
  await register(store, 'three');
  const third = await add();
  t.match(third, { since: idOf(first.file) }, 'it builds on the last intact one');
  t.match(await restore(`--at ${first['made-at']}`), { code: 0 });
  const onlyCut = await restore(`--at ${second['made-at']}`);
  t.strictSame(await namesIn(onlyCut.data), ['one'], 'the state before the cut one');

  const file = openSync(third.file, 'r+');
  writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, 512 + 8192);
  closeSync(file);
  const damaged = await restore();
  t.match(damaged, { code: 1, err: /larder\.db in \S+ is damaged/ });
  t.throws(() => readdirSync(damaged.data), { code: 'ENOENT' });
  const before = await restore(`--at ${first['made-at']}`);
  t.match(before, { code: 0, out: /The later changes cannot be listed: \S+ is damaged/ });
});

/** The id of a backup, from its manifest. */
const idOf = (file: string): string =>
  /\{\\"format\\":1,\\"id\\":\\"([^\\]+)\\"/.exec(readFileSync(file, 'latin1'))![1]!;

t.test('two stores in one folder do not touch the backups of each other', async (t) => {
  const [ours, theirs] = [await increments(t), await newStore(t)];
  await register(ours.store, 'ours');
  const first = await ours.add();
  const foreign = (await theirs.json(`backup ${ours.folder} --increment`)) as Increment;
  t.equal(foreign.since, null);
  await register(ours.store, 'more');
  t.match(await ours.add(), { since: idOf(first.file) }, 'the newer one of the other store is no base');
  const { data, code } = await ours.restore();
  t.equal(code, 0);
  t.strictSame(await namesIn(data), ['more', 'ours']);
});

t.test('a folder that is gone costs a sentence and one entry, and the next run succeeds', async (t) => {
  const { store, folder, add } = await increments(t);
  await add();
  renameSync(folder, `${folder}-gone`);
  for (let run = 0; run < 2; run++)
    t.match(await store.larder(`backup ${folder} --increment`), {
      code: 1,
      err: /there is no folder .*; mount it or make it/,
    });
  const { entries } = (await store.json('audit list --action record_failed_backup')) as { entries: unknown[] };
  t.equal(entries.length, 1, 'the same reason is entered once');
  t.match(await store.larder('doctor'), { out: /The last backup failed at .*there is no folder/ });
  renameSync(`${folder}-gone`, folder);
  await register(store, 'one');
  await add();
  t.notMatch((await store.larder('doctor')).out, /The last backup failed/);
});

t.test(
  'of the nights of two weeks, the first of each week has a full backup, whenever the timer of that night runs',
  async (t) => {
    const made = await saved(t);
    const { siteKey } = made.store.beside;
    const place = folderPlace(newFolder(t));
    const fulls: number[] = [];
    const madeAt: Date[] = [];
    for (let night = 0; night < 15; night++) {
      // The delay of the timer is up to an hour, the longest and the shortest one after the other.
      const at = after(new Date('2026-11-01T02:00:00.000Z'), days(night) + minutes(night % 2 === 0 ? 60 : 0));
      madeAt.push((await addBackupAt(made, place, at)).madeAt);
      if ((await findIncrementBase(place, siteKey, at))?.manifest.since === null) fulls.push(night);
      await removeOldBackups(place, keepNewest(7), { siteKey });
      for (const time of madeAt.slice(-7)) await readState(place, siteKey, time);
    }
    t.same(fulls, [0, 7, 14]);
    t.ok((await place.list()).length <= 14);
  },
);
