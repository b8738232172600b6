// The place of the copy of the database during a backup; other files there stay.
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { withWorkspace } from '#cli/backups/workspace.ts';
import { folder } from '#test/cli/process.ts';
import { saved } from './saved.ts';

t.setTimeout(600_000);

t.test('a folder with the name of the backup and .tmp stays unchanged', async (t) => {
  const { folder: into, run } = await saved(t);
  const precious = join(into, 'backup.tar.tmp');
  mkdirSync(precious);
  writeFileSync(join(precious, 'letters'), 'dear ada');
  t.match(await run(`backup ${join(into, 'backup.tar')}`), { code: 0 });
  t.equal(readFileSync(join(precious, 'letters'), 'utf8'), 'dear ada');
});

const asCaller = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => work();
/** More than any disk has room for, so that the copy lies beside the archive. */
const huge = 2 ** 60;

t.test('the copy beside an archive is in a new folder, and leaves nothing', async (t) => {
  const [directory, into] = [folder(t), folder(t)];
  const file = join(into, 'backup.tar');
  mkdirSync(`${file}.tmp`);
  writeFileSync(join(`${file}.tmp`, 'letters'), 'dear ada');
  const other = join(into, '.other.tar.larder-backup-abcdef');
  mkdirSync(other);
  const left = join(into, '.backup.tar.larder-backup-abcdef');
  mkdirSync(left);
  writeFileSync(join(left, 'larder.db'), 'of a backup that was killed');
  let workspace = '';
  await withWorkspace({ directory, asCaller }, { file, size: huge }, async (made) => {
    workspace = made;
    t.notOk(existsSync(left), 'what a killed backup of this name has left is gone');
    t.equal(statSync(made).mode & 0o777, 0o700);
    t.same(readdirSync(made), []);
    writeFileSync(join(made, 'larder.db'), 'a copy');
  });
  t.notOk(existsSync(workspace));
  t.same(readdirSync(into).sort(), ['.other.tar.larder-backup-abcdef', 'backup.tar.tmp']);
  t.equal(readFileSync(join(`${file}.tmp`, 'letters'), 'utf8'), 'dear ada');
});

t.test('a link with the name of such a folder is neither followed nor removed', async (t) => {
  const [directory, into, elsewhere] = [folder(t), folder(t), folder(t)];
  writeFileSync(join(elsewhere, 'letters'), 'dear ada');
  const link = join(into, '.backup.tar.larder-backup-abcdef');
  symlinkSync(elsewhere, link);
  await withWorkspace({ directory, asCaller }, { file: join(into, 'backup.tar'), size: huge }, (made) => {
    symlinkSync(elsewhere, join(made, 'link'));
    return Promise.resolve();
  });
  t.equal(readFileSync(join(elsewhere, 'letters'), 'utf8'), 'dear ada');
  t.ok(lstatSync(link).isSymbolicLink());
});

t.test(
  'as root, the folder beside the archive is given to the owner of the store, and a folder of others is not',
  { skip: process.getuid?.() === 0 ? false : 'left out: only root gives a folder away' },
  async (t) => {
    const [directory, into] = [folder(t), folder(t)];
    for (const path of [directory, into]) chmodSync(path, 0o755);
    chownSync(directory, 12345, 12345);
    const mine = join(into, '.backup.tar.larder-backup-mine00');
    mkdirSync(mine);
    await withWorkspace({ directory, asCaller }, { file: join(into, 'backup.tar'), size: huge }, (made) => {
      const { uid, gid } = statSync(made);
      t.same({ uid, gid }, { uid: 12345, gid: 12345 });
      return Promise.resolve();
    });
    t.ok(existsSync(mine), 'a folder that another user owns is not what a backup has left');
    t.equal(statSync(mine).uid, 0);
  },
);
