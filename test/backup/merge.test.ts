// Old increments are merged: a backup that stays takes the blobs of the ones that go, and is complete before they go.
import { cpSync, readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

import t, { type Test } from 'tap';

import { findIncrementBase } from '#backup/folder.ts';
import { folderPlace, type BackupPlace } from '#backup/place.ts';
import { readTarFrom } from '#backup/tar.ts';
import { keepThinned, removeOldBackups } from '#cli/backups/folder.ts';
import { after, days } from '#domain/clock.ts';
import { onDisk, type Files } from '#files/durable-streams.ts';
import { folder as newFolder } from '#test/cli/process.ts';
import { larder } from '#test/cli/world.ts';
import { isLongLane } from '#test/fixtures/large.ts';
import { watchedDisk } from '#test/files/watched-disk.ts';
import { addBackupAt, oldIncrements, readState, type MadeBackup, saved } from './saved.ts';

t.setTimeout(600_000);

const first = new Date('2026-11-20T10:00:00.000Z');
const increments = 8;
/** The moments of an end or an error that are tried: each one in the lane "long". */
const stride = isLongLane ? 1 : 11;

/** A store with old increments, and the work on a copy of them. */
const setUp = async (t: Test) => {
  const made = await saved(t);
  const { place: template, backups } = await oldIncrements(t, made, { first, count: increments });
  const { siteKey } = made.store.beside;
  const copy = () => {
    const folder = newFolder(t);
    cpSync(template.name, folder, { recursive: true });
    return {
      place: folderPlace(folder),
      backups: backups.map((backup) => ({ ...backup, file: backup.file.replace(template.name, folder) })),
    };
  };
  const thin = (on: BackupPlace, now = after(first, days(3))) =>
    removeOldBackups(on, keepThinned(now), { siteKey, merges: { workspace: made.folder } });
  return { made, copy, siteKey, thin };
};

/** The last backup of each hour. */
const lastOfHours = (backups: readonly MadeBackup[]): MadeBackup[] =>
  backups.filter(({ madeAt }, nth) => backups[nth + 1]?.madeAt.getUTCHours() !== madeAt.getUTCHours());

/** A disk that fails at an operation, and at each one after it, as after a kill. */
function dyingAt(fatal: number): { files: Files; operations: () => number } {
  let operations = 0;
  const step = (): void => {
    if (++operations >= fatal) throw Object.assign(new Error('EIO: injected'), { code: 'EIO', syscall: 'write' });
  };
  const stepping = <Handle extends object>(handle: Handle): Handle =>
    new Proxy(handle, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (/^(?:write|sync|truncate)$/.test(String(name))) step();
          return Reflect.apply(value, target, args);
        };
      },
    });
  const files: Files = {
    ...onDisk,
    async open(path, flags, mode) {
      step();
      return stepping(await onDisk.open(path, flags, mode));
    },
    async rename(from, to) {
      step();
      await onDisk.rename(from, to);
    },
    async rm(path, how) {
      step();
      await onDisk.rm(path, how);
    },
  };
  return { files, operations: () => operations };
}

t.test('old increments are merged', async (t) => {
  const { made, copy, siteKey, thin } = await setUp(t);

  await t.test('the last increment of an hour, and then of a day, takes the place of the others', async (t) => {
    const { place, backups } = copy();
    const hourly = lastOfHours(backups);
    const removed = await thin(place);
    t.equal(removed.length, 4, 'the increments that are the last of no hour');
    t.strictSame(
      (await place.list()).reverse(),
      [backups[0]!, ...hourly].map(({ file }) => file),
      'the full backup stays, because the others build on it',
    );
    for (const { madeAt, file, blobs } of hourly) t.match(await readState(place, siteKey, madeAt), { file, blobs });
    t.same(await thin(place), [], 'a second run removes nothing');

    const restored = join(made.folder, 'restored');
    const command = `restore ${place.name} --at ${hourly[1]!.madeAt.toISOString()} --data ${restored} --keys ${made.keys}`;
    t.match(await larder(command), { code: 0, out: /later changes? (?:is|are) in the newest backup/ });
    t.match(await larder('verify', { env: { LARDER_DATA: restored } }), { code: 0 });

    const base = await findIncrementBase(place, siteKey, after(first, days(3)));
    t.equal(base?.file, backups.at(-1)!.file, 'the next increment builds on what is left');
    const next = await addBackupAt(made, place, after(first, days(3)));
    t.match(await readState(place, siteKey, next.madeAt), { file: next.file, blobs: next.blobs });
    t.match(await findIncrementBase(place, siteKey, next.madeAt), { file: next.file });

    await thin(place, after(first, days(20)));
    t.strictSame(
      await place.list(),
      [next.file, backups.at(-1)!.file, backups[0]!.file],
      'one of each day, and the full',
    );
    for (const { madeAt, file, blobs } of [backups.at(-1)!, next])
      t.match(await readState(place, siteKey, madeAt), { file, blobs });
  });

  await t.test('what --keep leaves is not merged', async (t) => {
    const { place, backups } = copy();
    await removeOldBackups(place, (madeAt) => madeAt >= backups.at(-1)!.madeAt, { siteKey });
    t.equal((await place.list()).length, increments, 'the last one builds on all others');
  });

  await t.test('a merged archive is durable before its parts go', async (t) => {
    const { place } = copy();
    const disk = watchedDisk();
    let renames = 0;
    disk.beforeRename = () => {
      renames++;
      const files = disk
        .atRisk(place.name)
        .filter((path) => statSync(path, { throwIfNoEntry: false })?.size !== undefined);
      t.strictSame(files.length, 1, 'its entry under the other name alone');
    };
    const files: Files = {
      ...disk.files,
      async rm(path, how) {
        if (how?.force !== true)
          t.strictSame(
            disk.atRisk(place.name).filter((entry) => entry !== String(path)),
            [],
          );
        await disk.files.rm(path, how);
      },
    };
    await thin(folderPlace(place.name, { files }));
    t.ok(renames > 0);
  });

  await t.test('an end at any moment leaves a folder that has every state that stays', async (t) => {
    for (let fatal = 1, isOver = false; !isOver; fatal += stride) {
      const { place, backups } = copy();
      const disk = dyingAt(fatal);
      const ended = await thin(folderPlace(place.name, { files: disk.files })).catch(() => undefined);
      isOver = ended !== undefined;
      for (const { madeAt, file, blobs } of lastOfHours(backups)) {
        t.match(await readState(place, siteKey, madeAt), { file, blobs }, `step ${fatal}`);
      }
      await thin(place);
      t.equal(readdirSync(place.name).length, 4, `step ${fatal}: the next run completes it, and nothing else is left`);
    }
  });

  await t.test('a read error at any piece of any part removes nothing that a state needs', async (t) => {
    const { place, backups } = copy();
    for (let fatal = 1, isOver = false; !isOver; fatal += stride) {
      let reads = 0;
      const failing: BackupPlace = {
        ...place,
        async open(file, part = 'whole') {
          const handle = await open(file, 'r');
          const { size } = await handle.stat();
          const source = {
            async read(...[into, offset, length, position]: [Buffer, number, number, number]) {
              if (++reads === fatal) throw Object.assign(new Error('EIO: injected'), { code: 'EIO', syscall: 'read' });
              return handle.read(into, offset, length, position);
            },
            close: () => handle.close(),
          };
          return readTarFrom(source, { file, size }, part);
        },
      };
      const result = await thin(failing).catch((error: unknown) => error);
      isOver = reads < fatal;
      if (!isOver) t.match(result, { code: 'EIO' }, `read ${fatal} fails`);
      for (const { madeAt, file, blobs } of lastOfHours(backups))
        t.match(await readState(place, siteKey, madeAt), { file, blobs }, `read ${fatal}`);
      t.strictSame(
        readdirSync(place.name).filter((name) => !name.endsWith('.tar')),
        [],
      );
    }
    t.equal((await place.list()).length, 4);
  });

  await t.test('a stop of the store ends the work at once', async (t) => {
    const { place } = copy();
    const before = await place.list();
    const signal = AbortSignal.abort(new Error('the store stops'));
    const merges = { workspace: made.folder, signal };
    await t.rejects(removeOldBackups(place, keepThinned(after(first, days(3))), { siteKey, merges }), {
      message: 'the store stops',
    });
    t.same(await place.list(), before);
    t.equal(readdirSync(place.name).length, before.length);
  });

  await t.test('a damaged part stays with all that build on it, and does not keep the others', async (t) => {
    const { place, backups } = copy();
    const [, damaged] = backups;
    const handle = await open(damaged!.file, 'r+');
    const { size } = await handle.stat();
    const tar = await place.open(damaged!.file);
    const { offset } = tar.entries.find(({ name }) => name.startsWith('blobs/'))!;
    await tar.close();
    await handle.write(Buffer.from('X'), 0, 1, offset);
    await handle.close();
    t.ok(size > offset);
    await t.rejects(thin(place), { message: /blobs\/\S+ in \S+ is damaged/ });
    const left = await place.list();
    t.ok(left.includes(damaged!.file));
    const state = await readState(place, siteKey, backups[0]!.madeAt);
    t.equal(state.blobs, backups[0]!.blobs, 'the state before it can be restored');
    t.notOk(left.includes(backups[3]!.file), 'the other hours are merged');
  });
});
