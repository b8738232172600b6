// No command says in the words of the system or of SQLite that descriptors, permissions or room are missing.
import t from 'tap';
import { chmodSync, chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { folder } from '#test/cli/process.ts';
import { long, isRoot, store, everyCommand, hold } from './words-world.ts';

t.test('without descriptors', async (t) => {
  const few = await store(t);
  const because = /this process has too many files open; allow it more/;
  hold(t, everyCommand('no descriptor', few)!, because);
  if (!long) return;
  hold(t, everyCommand('two descriptors', few)!, because);
  hold(t, everyCommand('seven descriptors', few)!, because, 1);
});

t.test('with files that its user may not use', async (t) => {
  const theirs = await store(t);
  if (isRoot) for (const path of [join(theirs.data, '..'), theirs.data]) chownSync(path, 1234, 1234);
  else for (const name of readdirSync(theirs.data)) chmodSync(join(theirs.data, name), 0);
  hold(t, everyCommand('not allowed', theirs)!, /this user may not open .*larder\.toml/);
});

/** A copy on a file system of its own, which only the process sees that is started after it. */
function mounted(t: Parameters<typeof folder>[0], from: string): { data: string; place: string; before: string } {
  const mount = folder(t);
  const before = `mount -t tmpfs -o size=12m none ${mount}; cp -a ${from} ${mount}/data; mkdir ${mount}/place`;
  return { data: join(mount, 'data'), place: join(mount, 'place'), before };
}

t.test('errors are plain on a full disk, and on a read-only disk', async (t) => {
  const { data } = await store(t);
  const { before, ...full } = mounted(t, data);
  const outcomes = everyCommand('full', full, before);
  if (outcomes === undefined) {
    t.comment('nobody may mount anything here');
    return;
  }
  hold(t, outcomes, /the disk that holds .* is full; make room on it/);
  const doctorOutput = outcomes.find(({ name }) => name === 'doctor')?.out ?? '';
  t.match(
    doctorOutput,
    /The whole disk has 12 MiB, and uploads\.reserve keeps 1024 MiB of it free, so nothing can be uploaded/,
  );
  const { before: copy, ...still } = mounted(t, data);
  const fixed = everyCommand('as it is', still, `${copy}; mount -o remount,ro ${join(still.data, '..')}`);
  if (fixed === undefined) t.comment('whoever may mount here may not mount anew');
  else hold(t, fixed, /is on a disk that can only be read; make it writable/);
});
