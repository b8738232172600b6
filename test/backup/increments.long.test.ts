// Increments in a folder that is full or read-only, and a kill at any moment of one.
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { backupNameAt, findState } from '#backup/folder.ts';
import { folderPlace } from '#backup/place.ts';
import { keepThinned, removeOldBackups } from '#cli/backups/folder.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { folder as newFolder, newStore, start } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { fill, noSmallDisk, smallDisk } from '#test/fixtures/small-disk.ts';
import { oldIncrements, readState, saved } from './saved.ts';

t.setTimeout(600_000);

t.test('a folder that is full or read-only costs a sentence, and the next increment succeeds', async (t) => {
  const disk = smallDisk(t, '64m');
  if (disk === undefined) {
    t.comment(noSmallDisk);
    return;
  }
  const store = await newStore(t);
  const add = () => store.larder(`backup ${disk} --increment`);
  const names = () => readdirSync(disk).filter((name) => name !== 'filler');
  t.match(await add(), { code: 0 });
  const before = names();

  await store.larder('package register snap/one --account larder-admin');
  const filler = fill(disk);
  t.match(await add(), { code: 1, err: /but only \d+ MiB are free in/ });
  t.strictSame(names(), before, 'nothing of it stays, and nothing is overwritten');
  rmSync(filler);

  execFileSync('mount', ['-o', 'remount,ro', disk]);
  t.match(await add(), { code: 1, err: /on a disk that can only be read/ });
  t.match(await store.larder('doctor'), { out: /The last backup failed at .*can only be read/ });
  execFileSync('mount', ['-o', 'remount,rw', disk]);

  t.match(await add(), { code: 0, err: '' });
  t.equal(names().length, 2);
  t.notMatch((await store.larder('doctor')).out, /The last backup failed/);
});

t.test('an increment that is killed at any moment leaves every earlier state, and the next one succeeds', async (t) => {
  const { data, larder: run, json } = await newStore(t);
  const folder = newFolder(t);
  const siteKey = Buffer.from(readFileSync(join(data, 'site.key'), 'utf8'), 'base64');
  const { file } = (await json(`backup ${folder} --increment`)) as { file: string };
  const madeAt = new Date();
  const kills = process.env['LARDER_LONG'] === '1' ? 60 : 8;
  for (let nth = 0; nth < kills; nth++) {
    await run(`package register snap/name-${nth} --account larder-admin`);
    const { child, ended } = start(t, ['backup', folder, '--increment', '--thin', '--data', data]);
    setTimeout(() => child.kill('SIGKILL'), 250 + (1000 * nth) / kills);
    await ended;
    t.equal((await findState(folderPlace(folder), siteKey, madeAt)).file, file);
    const newest = await findState(folderPlace(folder), siteKey, undefined);
    t.match(
      await larder(`backup --check ${newest.file} --data ${data}`),
      { code: 0 },
      'each file with a name is whole',
    );
  }
  t.match(await run(`backup ${folder} --increment`), { code: 0 });
  t.strictSame(
    readdirSync(folder).filter((name) => !name.endsWith('.tar')),
    [],
    'the remains of the killed ones are gone',
  );
});

t.test(
  'a merge that is killed at any moment leaves every state that stays, and the next one completes it',
  async (t) => {
    const made = await saved(t);
    const { siteKey } = made.store.beside;
    // In the hours of one day, three days ago by the clock of the command.
    const first = new Date(`${timestamp(after(new Date(), -days(3))).slice(0, 10)}T10:00:00.000Z`);
    const { place: template, backups } = await oldIncrements(t, made, { first, count: 8 });
    const lastOfHours = [2, 5, 7].map((nth) => backups[nth]!);
    const kills = process.env['LARDER_LONG'] === '1' ? 60 : 8;
    for (let nth = 0; nth < kills; nth++) {
      const folder = newFolder(t);
      cpSync(template.name, folder, { recursive: true });
      const { child, ended } = start(t, ['backup', folder, '--increment', '--thin', '--data', made.store.directory]);
      const killed = setTimeout(() => child.kill('SIGKILL'), 250 + (2500 * nth) / kills);
      await ended;
      clearTimeout(killed);
      for (const { madeAt, file, blobs } of lastOfHours)
        t.match(await readState(folderPlace(folder), siteKey, madeAt), {
          file: file.replace(template.name, folder),
          blobs,
        });
      t.match(await made.run(`backup ${folder} --increment --thin`), { code: 0 });
      await removeOldBackups(folderPlace(folder), keepThinned(new Date()), {
        siteKey,
        merges: { workspace: made.folder },
      });
      t.strictSame(
        readdirSync(folder).filter((name) => !name.endsWith('.tar')),
        [],
      );
      t.equal(
        (await folderPlace(folder).list()).filter((path) => path < `${folder}/${backupNameAt(after(first, days(1)))}`)
          .length,
        4,
      );
      rmSync(folder, { recursive: true });
    }
  },
);
