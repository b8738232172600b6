// Shared syncs of folders: no caller is answered by a sync that began before the change of the caller.
import type { FileHandle } from 'node:fs/promises';

import t from 'tap';

import { DurableFiles } from '#blobs/disk/durable.ts';

/** A disk with syncs that the test ends. */
function slowDisk() {
  const syncs: PromiseWithResolvers<void>[] = [];
  const handle = {
    sync() {
      const sync = Promise.withResolvers<void>();
      syncs.push(sync);
      return sync.promise;
    },
    close: () => Promise.resolve(),
  };
  const fatal: Error[] = [];
  const files = new DurableFiles({
    open: () => Promise.resolve(handle as unknown as FileHandle),
    move: () => Promise.resolve(),
    now: () => new Date(),
    fatal: (error) => fatal.push(error),
  });
  return { files, syncs, fatal };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('callers that wait during a sync of a folder share the next sync', async (t) => {
  const { files, syncs } = slowDisk();
  const served: string[] = [];
  const ask = async (name: string): Promise<void> => {
    await files.syncFolder('/folder');
    served.push(name);
  };
  const all = [ask('first')];
  await turn();
  for (const name of ['second', 'third', 'fourth']) all.push(ask(name));
  await turn();
  t.equal(syncs.length, 1);
  syncs[0]!.resolve();
  await turn();
  t.same([served, syncs.length], [['first'], 2], 'what began before they asked is not for them');
  all.push(ask('fifth'));
  syncs[1]!.resolve();
  await turn();
  t.same([served, syncs.length], [['first', 'second', 'third', 'fourth'], 3]);
  syncs[2]!.resolve();
  await Promise.all(all);
  void files.syncFolder('/folder');
  await turn();
  t.equal(syncs.length, 4, 'and who asks later is served at once');
});

t.test('another folder is not waited for', async (t) => {
  const { files, syncs } = slowDisk();
  void files.syncFolder('/folder');
  void files.syncFolder('/other');
  await turn();
  t.equal(syncs.length, 2);
});

t.test('a failed sync ends the store, and fails for every waiting caller', async (t) => {
  const { files, syncs, fatal } = slowDisk();
  const first = files.syncFolder('/folder');
  await turn();
  const [second, third] = [files.syncFolder('/folder'), files.syncFolder('/folder')];
  syncs[0]!.reject(new Error('EIO'));
  await t.rejects(first, { message: 'cannot make a blob durable' });
  await turn();
  syncs[1]!.reject(new Error('EIO'));
  await t.rejects(second, { message: 'cannot make a blob durable' });
  await t.rejects(third, { message: 'cannot make a blob durable' });
  t.equal(files.broken, true);
  t.ok(fatal.length > 0);
});
