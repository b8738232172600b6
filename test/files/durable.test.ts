// Keys, credentials, the configuration and the newest seal survive a power cut: the content of the disk after each
// step.
import * as fs from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { createFile, makeFolder, prepareFile, renameFile, replaceFile } from '#files/durable.ts';
import { watched } from './ordered-disk.ts';

t.test('a file is on the disk before it has its name, and has its name before the caller continues', async (t) => {
  const folder = t.testdir({ data: { 'larder.toml': 'old' } });
  const file = join(folder, 'data', 'larder.toml');
  const { disk, did } = watched();
  const prepared = prepareFile(file, 'new', 0o600, disk);
  t.same(did, ['write new larder.toml', 'sync new larder.toml']);
  t.equal(fs.readFileSync(file, 'utf8'), 'old');
  prepared.place();
  t.same(did.slice(2), ['rename new larder.toml to larder.toml', 'sync data']);
  t.equal(fs.readFileSync(file, 'utf8'), 'new');
});

t.test('so is a file that is replaced while the process goes on', async (t) => {
  const folder = t.testdir({ data: { 'audit.seal': 'old' } });
  const file = join(folder, 'data', 'audit.seal');
  const { disk, did } = watched();
  const replaced = replaceFile(file, 'new', 0o600, disk);
  t.equal(fs.readFileSync(file, 'utf8'), 'old');
  await replaced;
  t.same(did, ['write new audit.seal', 'sync new audit.seal', 'rename new audit.seal to audit.seal', 'sync data']);
  t.equal(fs.readFileSync(file, 'utf8'), 'new');
  t.equal(fs.statSync(file).mode & 0o777, 0o600);
});

t.test('a new file is synced, then the entry of its folder; a second name is such an entry too', async (t) => {
  const folder = t.testdir({ data: {} });
  const { disk, did } = watched();
  createFile(join(folder, 'data', 'site.key'), 'key', 0o400, disk);
  t.same(did.splice(0), ['write site.key', 'sync site.key', 'sync data']);
  t.equal(fs.statSync(join(folder, 'data', 'site.key')).mode & 0o777, 0o400);
  renameFile(join(folder, 'data', 'site.key'), join(folder, 'data', 'other.key'), disk);
  t.same(did, ['rename site.key to other.key', 'sync data']);
});

t.test('each new folder is an entry of the one above it', async (t) => {
  const folder = t.testdir({ srv: {} });
  const { disk, did } = watched();
  makeFolder(join(folder, 'srv', 'larder', 'data'), disk);
  t.same(did.splice(0), ['sync larder', 'sync srv']);
  makeFolder(join(folder, 'srv', 'larder', 'data'), disk);
  t.same(did, [], 'one that was there is nothing new');
});

t.test('a write that could not be made durable leaves the old file, and no other', async (t) => {
  for (const fails of ['write new key', 'sync new key', 'rename new key to key']) {
    const folder = t.testdir({ key: 'old' });
    const { disk } = watched(fails);
    const file = join(folder, 'key');
    t.throws(() => prepareFile(file, 'new', 0o600, disk).place(), { code: 'EIO' });
    await t.rejects(replaceFile(file, 'new', 0o600, disk), { code: 'EIO' });
    t.same(fs.readdirSync(folder), ['key'], fails);
    t.equal(fs.readFileSync(file, 'utf8'), 'old');
  }
});
