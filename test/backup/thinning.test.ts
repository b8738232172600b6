// Old backups in a folder: one per hour of a week and one per day of a quarter stay, with all that they build on.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import t from 'tap';

import { recordLatestTime } from '#acts/store/clock.ts';
import { backupNameAt, findState } from '#backup/folder.ts';
import { folderPlace } from '#backup/place.ts';
import { signedManifest, type Manifest } from '#backup/manifest.ts';
import { writeTar } from '#backup/tar.ts';
import { keepThinned, removeOldBackups } from '#cli/backups/folder.ts';
import { after, days, hours, minutes, timestamp } from '#domain/clock.ts';
import { folder as newFolder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { saved } from './saved.ts';

const siteKey = Buffer.alloc(32, 7);
const now = new Date('2026-11-26T12:00:00.000Z');

/** A backup that has nothing but its manifest. Its blobs are in the backups with these ids. */
async function addBackup(folder: string, madeAt: Date, id: string, used: readonly string[], key: Buffer = siteKey) {
  const manifest: Manifest = {
    format: 1,
    id,
    madeAt: timestamp(madeAt),
    version: '0.1.0',
    since: used[0] ?? null,
    auditHead: null,
    keys: false,
    files: [],
    blobs: used.map((backup, nth) => ({ sha3_384: String(nth).padStart(96, '0'), size: 1, backup })),
  };
  const file = join(folder, backupNameAt(madeAt));
  const handle = await open(file, 'wx');
  const tar = writeTar(handle, madeAt);
  const { name, content } = await signedManifest(manifest, key);
  await tar.add(name, content.length, Readable.from([content]));
  await tar.finish();
  await handle.close();
  return { file, id, madeAt, used };
}

t.test('a day, the hours of a week and the days of a quarter stay, and each of them can be restored', async (t) => {
  const folder = newFolder(t);
  const made: Awaited<ReturnType<typeof addBackup>>[] = [];
  const ages = [
    ...Array.from({ length: 50 }, (_, nth) => minutes(5) * nth),
    ...Array.from({ length: 60 }, (_, nth) => days(2) + minutes(20) * nth),
    ...Array.from({ length: 60 }, (_, nth) => days(20) + hours(5) * nth),
    ...Array.from({ length: 10 }, (_, nth) => days(100) + hours(9) * nth),
  ];
  for (const [nth, age] of ages.toSorted((first, other) => other - first).entries()) {
    const full = made.findLast((_, at) => at % 20 === 0);
    // Each has new blobs, and some of an earlier increment.
    const used = nth % 20 === 0 || full === undefined ? [] : [full.id, ...(nth % 3 === 0 ? [made[nth - 1]!.id] : [])];
    made.push(await addBackup(folder, after(now, -age), `id-${nth}`, used));
  }
  const removed = await removeOldBackups(folderPlace(folder), keepThinned(now), { siteKey });
  const left = made.filter(({ file }) => existsSync(file));
  t.equal(left.length + removed.length, made.length);
  t.ok(removed.length > 60, `${removed.length} were removed`);
  const ids = new Set(left.map(({ id }) => id));
  const isRule = keepThinned(now);
  for (const { madeAt, id, used, file } of made.toReversed()) {
    const isKept = isRule(madeAt);
    if (isKept) t.ok(ids.has(id), `${timestamp(madeAt)} stays`);
    if (isKept) for (const other of used) t.ok(ids.has(other), `what ${id} builds on stays`);
    if (isKept) t.equal((await findState(folderPlace(folder), siteKey, madeAt)).file, file);
    const isUsed = made.some((backup) => ids.has(backup.id) && backup.used.includes(id));
    if (!isKept && !isUsed) t.notOk(ids.has(id), `${timestamp(madeAt)} is removed`);
  }
  const hoursLeft = new Set(
    left.filter(({ madeAt }) => madeAt < after(now, -days(1))).map(({ madeAt }) => timestamp(madeAt).slice(0, 13)),
  );
  t.ok(hoursLeft.size > 20);
  t.same(
    await removeOldBackups(folderPlace(folder), keepThinned(now), { siteKey }),
    [],
    'a second run removes nothing',
  );
});

t.test('a backup takes the place of others once for its hour, and once for its day', (t) => {
  const began = new Date('2026-11-01T00:00:00.000Z');
  const merges = new Map<Date, number>();
  /** The newest first. */
  let left: Date[] = [];
  for (let at = 0; at < days(12); at += minutes(20)) {
    left.unshift(after(began, at));
    if (at % hours(1) !== 0) continue;
    const isKept = keepThinned(after(began, at));
    const retained: Date[] = [];
    const heirs = new Set<Date>();
    for (const madeAt of left) {
      if (isKept(madeAt)) retained.push(madeAt);
      else heirs.add(retained.at(-1)!);
    }
    for (const heir of heirs) merges.set(heir, (merges.get(heir) ?? 0) + 1);
    left = retained;
  }
  t.equal(Math.max(...merges.values()), 2);
  t.equal([...merges.values()].filter((count) => count === 2).length, 4, 'the days that are a week old');
  t.end();
});

t.test('files of other stores, other names and cut files are not touched', async (t) => {
  const folder = newFolder(t);
  const old = after(now, -days(200));
  await addBackup(folder, now, 'new', []);
  await addBackup(folder, old, 'foreign', [], Buffer.alloc(32, 8));
  writeFileSync(join(folder, backupNameAt(after(old, minutes(1)))), 'cut');
  writeFileSync(join(folder, 'notes.txt'), 'notes');
  const before = readdirSync(folder);
  t.same(await removeOldBackups(folderPlace(folder), keepThinned(now), { siteKey }), []);
  t.same(readdirSync(folder), before);
});

t.test('a backup that was made after the clock was set back keeps what it builds on', async (t) => {
  const folder = newFolder(t);
  const base = await addBackup(folder, after(now, -days(3) + minutes(10)), 'base', []);
  await addBackup(folder, after(now, -days(3) + minutes(20)), 'last of its hour', []);
  await addBackup(folder, after(now, -days(3) - hours(2)), 'by the wrong clock', ['base']);
  await removeOldBackups(folderPlace(folder), keepThinned(now), { siteKey });
  t.ok(existsSync(base.file));
});

t.test('--thin goes with a folder, and not with --keep', async (t) => {
  const { run } = await saved(t);
  const folder = newFolder(t);
  t.match(await run(`backup ${folder} --increment --thin`), { code: 0 });
  t.match(await run(`backup ${folder} --thin --keep 3`), { code: 2, err: /--thin and --keep are two rules/ });
  t.match(await run(`backup ${folder}/a.tar --thin`), { code: 2, err: /--thin needs a folder/ });
  rmSync(folder, { recursive: true });
  t.match(await larder('help backup'), { out: /--thin/ });
});

t.test('while the clock is in doubt, no backup is too old', async (t) => {
  const { store, run } = await saved(t);
  const { acts, siteKey } = store.beside;
  const folder = newFolder(t);
  const old = await addBackup(folder, after(new Date(), -days(100)), 'old', [], siteKey);
  for (const [seen, stays] of [
    [after(new Date(), -days(99)), true],
    [new Date(), false],
  ] as const) {
    await acts.do(recordLatestTime, { actor: 'clock' }, { seen: timestamp(seen), accepted: undefined });
    t.match(await run(`backup ${folder} --increment --thin`), { code: 0, out: /The backup is in/ });
    t.equal(existsSync(old.file), stays);
  }
});
