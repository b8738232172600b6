// In any state of the machine, no command prints the error texts of the system or of SQLite.
import t from 'tap';
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { largeTest } from '#test/fixtures/large.ts';
import { long, store, everyCommand, hold } from './words-world.ts';

/** Overwrites a part of the database. */
function damage(data: string, from: number, bytes: Buffer): void {
  const file = openSync(join(data, 'larder.db'), 'r+');
  writeSync(file, bytes, 0, bytes.length, from);
  closeSync(file);
}

t.test('on a good machine', async (t) => {
  hold(t, everyCommand('as it is', await store(t))!, /There is no file return\.assert\./, 1);
});

largeTest('with a damaged database', async (t) => {
  const header = await store(t);
  damage(header.data, 0, Buffer.alloc(100));
  hold(t, everyCommand('as it is', header)!, /the database .* is damaged/);

  if (!long) return;
  const pages = await store(t);
  const size = statSync(join(pages.data, 'larder.db')).size;
  damage(pages.data, 8192, Buffer.alloc(size - 8192, 0xa5));
  hold(t, everyCommand('as it is', pages)!, /the database .* is damaged/);
});
