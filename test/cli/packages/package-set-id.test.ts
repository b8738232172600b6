import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { openStore } from '#test/fixtures/records/writable.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { newStore } from '#test/cli/process.ts';

const id = 'buPKUD3TKqCOgLEjjHx5kSiCpIs5cMuQ';

t.test('a package gets the id that it has online, with all that belongs to it', async (t) => {
  const { data, json } = await newStore(t);
  await json('account create --email ada@example.org --username ada --display-name Ada --id ada-id');
  const before = (await json('package register snap/hello --account ada-id')).id;
  t.match(await json(`package set-id snap/hello ${id}`), { name: 'hello', id, before });
  const store = await openStore({ directory: data });
  t.teardown(() => store.close());
  t.match(await store.records.packages.find('snap', 'hello'), { id, publisherId: 'ada-id' });
  t.match(await store.records.tracks.list(id), [{ name: 'latest' }]);
  t.match(await json(`package set-id snap/hello ${id}`), { id, before: id }, 'again it changes nothing');

  await json('package register snap/other --account ada-id');
  t.match(await json(`package set-id snap/other ${id}`), { code: 'conflict', error: /Another package/ });
  t.match(await json('package set-id snap/other x'), { code: 'usage' });
  t.match(await json(`package set-id snap/nothing ${'A'.repeat(32)}`), { code: 'resource-not-found' });
  const at = new Date().toISOString();
  await store.records.change({ at, actor: 'test', action: 'revise', object: id }, (tx) =>
    filler(tx, at).revision({ packageId: id, revision: 1, createdBy: 'ada-id' }),
  );
  t.match(await json(`package set-id snap/hello ${'A'.repeat(32)}`), { code: 'conflict', error: /has revisions/ });
});

t.test('every table that speaks of packages follows them', async (t) => {
  const { data } = await newStore(t);
  const db = new SQLite(join(data, 'larder.db'));
  t.teardown(() => db.close());
  const tables = db.prepare<[], { name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table'`).all();
  for (const { name } of tables) {
    const keys = db
      .prepare<[string], { table: string; on_update: string }>('SELECT * FROM pragma_foreign_key_list(?)')
      .all(name);
    for (const key of keys) if (key.table === 'packages') t.equal(key.on_update, 'CASCADE', name);
  }
});
