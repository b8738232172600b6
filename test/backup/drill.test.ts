// A drill restores the newest backup of a folder, verifies it, removes it and records the result.
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { folder as newFolder } from '#test/cli/process.ts';
import { saved } from './saved.ts';

t.setTimeout(600_000);

t.test('a drill proves that the newest increment can be restored, and leaves no copy', async (t) => {
  const { store, keys, run } = await saved(t);
  const backups = newFolder(t);
  t.match(await run('doctor'), { out: /none was restored in a drill|No backup was made yet/ });
  t.match(await run('status'), { out: /Last drill +never/ });
  await run(`backup ${backups} --increment`);
  const ada = await store.as('ada');
  await ada.post('/v1/bin', { name: 'tool' });
  await ada.push('bin', 'tool', 'a tool');
  const increment = JSON.parse((await run(`backup ${backups} --increment --json`)).out) as Record<string, string>;
  const before = [readdirSync(store.directory), readdirSync(backups)];
  const { code, out, err } = await run(`backup drill ${backups} --keys ${keys}`);
  t.equal(code, 0, err);
  t.match(out, `The backup of ${increment['made-at']!} in ${increment['file']!} was restored and verified: `);
  t.strictSame([readdirSync(store.directory), readdirSync(backups)], before, 'no file of it is left');
  const { entries } = JSON.parse((await run('audit list --action record_drill --json')).out) as {
    entries: { object: string; details: Record<string, unknown> }[];
  };
  t.match(entries, [{ object: `backup/${increment['id']!}`, details: { 'made-at': increment['made-at'] } }]);
  t.match(await run('doctor'), { out: /and the last drill was at \d{4}-/ });
  t.match(await run('status'), { out: /Last drill +\d{4}-\S+ \(/ });
  t.match(await run(`backup ${backups} --increment`), { out: /has not changed/ }, 'a drill is no change of the store');
  t.match(await run(`verify`), { code: 0 });
});

t.test(
  'a drill with a damaged backup, or another key, fails, is recorded, and is shown until one succeeds',
  async (t) => {
    const { folder, run } = await saved(t);
    const backups = newFolder(t);
    const other = join(folder, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'site.key'), Buffer.alloc(32, 9).toString('base64'));
    const { file } = JSON.parse((await run(`backup ${backups} --increment --json`)).out) as { file: string };
    t.match(await run(`backup drill ${backups} --keys ${other}`), {
      code: 1,
      err: /has no backup that this site key made/,
    });
    t.match(await run('doctor'), { out: /The last drill failed at .*has no backup that this site key made/ });
    t.match(await run(`backup drill ${backups}`), { code: 0 });
    t.notMatch((await run('doctor')).out, /The last drill failed/);

    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(512, 0xa5), 0, 512, 512 + 4096);
    closeSync(handle);
    t.match(await run(`backup drill ${backups}`), { code: 1, err: /is damaged/ });
    t.match(await run('doctor'), { out: /The last drill failed at .*is damaged/ });
    t.match(await run(`backup drill ${file}`), { code: 2, err: /a drill needs a folder of backups/ });
  },
);

t.test('a drill fails if the newest backup lacks content, although everything in it is intact', async (t) => {
  const { blob, run } = await saved(t);
  const backups = newFolder(t);
  rmSync(blob);
  t.match(await run(`backup ${backups} --increment`), { code: 1, out: /1 blob is not in it/ });
  t.match(await run(`backup drill ${backups}`), { code: 1, err: /the backup lacks content: .*snap\/tiny-app/s });
  t.match(await run('doctor'), { out: /The last drill failed/ });
});
