// Properties of the records that no operation shows by itself.
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { columnsOf, databaseOf, engine, statement, tablesOf } from '#test/fixtures/records/engines.ts';
import { filler } from '#test/fixtures/records/filler.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';

/** Writes a row of a table directly, ignoring its constraints. */
async function unruled(
  store: TestAppliance,
  table: string,
  row: Record<string, string | number | null>,
): Promise<void> {
  const names = Object.keys(row);
  const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  if (engine === 'sqlite') {
    const plain = new SQLite(join(store.directory, 'larder.db'));
    plain.pragma('foreign_keys = OFF');
    plain.pragma('ignore_check_constraints = ON');
    plain.prepare(text).run(...Object.values(row));
    plain.close();
    return;
  }
  const db = await databaseOf({ teardown: () => undefined }, store.directory);
  await db.transaction(async (tx) => {
    await tx.script(`DO $$ DECLARE rule RECORD; BEGIN
      FOR rule IN SELECT conname FROM pg_constraint WHERE conrelid = '${table}'::regclass AND contype IN ('c', 'f') LOOP
        EXECUTE format('ALTER TABLE ${table} DROP CONSTRAINT %I', rule.conname);
      END LOOP; END $$`);
    await tx.run(statement(text, ...Object.values(row)));
  });
  await db.close();
}

const entry = (store: TestAppliance) => ({
  at: store.clock.now.toISOString(),
  actor: 'test',
  action: 'try',
  object: 'x',
});

t.test('content stays as long as any table names it', async (t) => {
  const store = await startStore(t);
  const { records } = store.beside;
  const db = await databaseOf(t, store.directory);
  let held = 0;
  for (const name of await tablesOf(db)) {
    const columns = await columnsOf(db, name);
    if (!columns.some((column) => column.name === 'sha3_384')) continue;
    if (name === 'signing_keys') continue; // there it is the id of a key
    if (name === 'damaged_blobs') continue; // a list of what nobody can use
    if (name === 'kept_contents') continue; // made of the others by triggers
    const digest = String(++held).padStart(96, 'a');
    // A deleted revision needs no content any longer.
    const valueOf = ({ name, isNumber }: (typeof columns)[number]) => {
      if (name === 'deleted_at') return null;
      if (name === 'sha3_384') return digest;
      return isNumber ? 1000 + held : `x${held}`;
    };
    await unruled(store, name, Object.fromEntries(columns.map((column) => [column.name, valueOf(column)])));
    t.equal(await records.neededContents.has(digest), true, name);
    t.ok((await records.neededContents.list('a'.repeat(90), 100)).includes(digest), `${name} is in the list`);
    t.equal(await records.neededContents.has(digest.replace('a', 'b')), false);
  }
  t.ok(held >= 2);
});

t.test('an icon keeps its content', async (t) => {
  const store = await startStore(t);
  const { id } = (await (await store.as('ada')).post('/v1/snap', { name: 'hello' })).body;
  const { records } = store.beside;
  for (const ending of ['png', 'svg']) {
    const digest = ending.padStart(96, '0');
    t.equal(await records.neededContents.has(digest), false);
    await records.change(entry(store), async (tx) => {
      const subject = await tx.packages.byId(id);
      if (subject !== undefined) await tx.packages.describe({ ...subject, icon: `${digest}.${ending}` });
    });
    t.equal(await records.neededContents.has(digest), true, ending);
    t.same(await records.neededContents.list('', 10), [digest]);
    t.same(await records.neededContents.neededBy(digest, 10), ['snap/hello icon']);
  }
});

t.test('the users of a content, and its pushers, are named in order', async (t) => {
  const store = await startStore(t);
  const { records } = store.beside;
  const sha3_384 = '1'.padStart(96, '0');
  const people = ['carl', 'dora', 'eve'];
  for (const username of people) await store.join(username);
  await records.change(entry(store), async (tx) => {
    const fill = filler(tx, store.clock.now.toISOString());
    for (const [at, name] of ['pear', 'apple', 'plum', 'fig', 'lime', 'date'].entries()) {
      const packageId = String(at).padStart(32, 'P');
      await fill.package({ id: packageId, name, publisherId: store.ids.ada });
      await fill.revision({ packageId, revision: 1, sha3_384, createdBy: store.ids[people[at % 3]!]! });
    }
  });
  const revisionsOf = (names: string[]): string[] => names.map((name) => `snap/${name} revision 1`);
  const { neededContents } = records;
  t.same(await neededContents.neededBy(sha3_384, 10), revisionsOf(['apple', 'date', 'fig', 'lime', 'pear', 'plum']));
  t.same(await neededContents.neededBy(sha3_384, 3), revisionsOf(['apple', 'date', 'fig']));
  t.same(await neededContents.pushersOf(sha3_384, 2), ['carl', 'dora']);
});

t.test('the needed contents come page by page in order, each once', async (t) => {
  const store = await startStore(t);
  const { records } = store.beside;
  const ada = await store.as('ada');
  for (const content of ['one', 'two', 'one', 'three', 'four', 'two']) await ada.upload(content);
  const all = await records.neededContents.list('', 100);
  t.equal(all.length, 4);
  t.same(all, [...all].sort());
  const paged: string[] = [];
  for (let page = await records.neededContents.list('', 3); page.length > 0;) {
    paged.push(...page);
    page = await records.neededContents.list(page.at(-1)!, 3);
  }
  t.same(paged, all);
});

t.test('an upload is claimed by one package, once', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const [first, two] = [
    (await ada.post('/v1/bin', { name: 'one' })).body.id,
    (await ada.post('/v1/bin', { name: 'two' })).body.id,
  ];
  const upload = await ada.upload('content');
  const claim = (packageId: string) => ({
    packageId,
    pushedBy: store.ids.ada,
    pushedAt: store.clock.now.toISOString(),
  });
  const results = await store.beside.records.change(entry(store), async (tx) => [
    await tx.uploads.claim(upload, claim(first)),
    await tx.uploads.claim(upload, claim(two)),
    await tx.uploads.claim(upload, claim(first)),
    await tx.uploads.claim('nothing', claim(first)),
    await tx.uploads.forget(upload),
  ]);
  t.same(results, [true, false, false, false, false]);
  t.match(await store.beside.records.uploads.find(upload), { packageId: first });
});

t.test('an upload that a package has claimed counts as unclaimed nowhere', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { records } = store.beside;
  const unclaimed = async () => {
    const { unclaimed } = await records.counts.all();
    return [
      unclaimed,
      await records.unclaimedUploads.count(),
      (await records.unclaimedUploads.of('127.0.0.1')).uploads,
    ];
  };
  await store.anyone.upload('nobody has asked for this');
  t.same(await unclaimed(), [1, 1, 1]);
  await ada.post('/v1/bin', { name: 'hello' });
  t.match(await ada.push('bin', 'hello', 'but for this'), { status: 200 });
  t.same(await unclaimed(), [1, 1, 1]);
});

t.test('a deleted package takes all of its own rows along, and no others', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { records } = store.beside;
  const ids: string[] = [];
  for (const name of ['gone', 'stays']) {
    const { id } = (await ada.post('/v1/bin', { name })).body;
    ids.push(id);
    await ada.push('bin', name, `content of ${name}`);
    await addRevision(store, id, 2);
    await ada.post(`/v1/bin/${name}/releases`, [
      { channel: 'edge', revision: 1 },
      { channel: 'edge/fix', revision: 2 },
    ]);
    await records.change(entry(store), (tx) =>
      tx.collaborators.add(id, store.ids.bob, store.ids.ada, store.clock.now.toISOString()),
    );
  }
  const [gone = '', stays = ''] = ids;
  await records.change(entry(store), (tx) => tx.packages.remove(gone));
  const now = store.clock.now.toISOString();
  const counted = async (id: string): Promise<number[]> => [
    (await records.tracks.list(id)).length,
    (await records.revisions.list(id, 10)).length,
    (await records.releases.current(id, now)).length,
    (await records.uploads.reviews(id, 10)).length,
    Number(await records.collaborators.has(id, store.ids.bob)),
  ];
  t.same(await counted(gone), [0, 0, 0, 0, 0]);
  t.same(await counted(stays), [1, 2, 2, 1, 1]);
});

t.test('the database refuses what must never be', async (t) => {
  const store = await startStore(t);
  const ada = await store.as('ada');
  const { id } = (await ada.post('/v1/bin', { name: 'hello' })).body;
  await addRevision(store, id, 1);
  const db = await databaseOf(t, store.directory);
  const revision = (number: number, digest: string, status = 'approved'): string =>
    `INSERT INTO revisions (package_id, revision, sha3_384, sha256, size, version, status, created_at, created_by, details)
     VALUES ('${id}', ${number}, '${digest}', 'x', 1, '1', '${status}', 'x', '${store.ids.ada}', '{}')`;
  for (const [label, text] of [
    ['a revision number twice', revision(1, 'other')],
    ['the same content twice in one package', revision(2, '1'.padStart(96, '0'))],
    ['a revision number below one', revision(0, 'other')],
    ['a revision status of its own', revision(2, 'other', 'perhaps')],
    ['a package without a publisher', `UPDATE packages SET publisher_id = 'nobody'`],
    ['a package status of its own', `UPDATE packages SET status = 'perhaps'`],
    ['half private', `UPDATE packages SET private = 2`],
    [
      'a name twice',
      `INSERT INTO packages (id, namespace, name, type, publisher_id, private, status, links, created_at)
      VALUES ('x', 'bin', 'hello', 'bin', '${store.ids.ada}', 0, 'registered', '{}', 'x')`,
    ],
    [
      'a release of no revision',
      `INSERT INTO releases (package_id, channel, slot, revision, resources, released_at)
      VALUES ('${id}', 'latest/edge', '*', 7, '[]', 'x')`,
    ],
    [
      'a claimed upload without a status',
      `INSERT INTO uploads (id, sha3_384, sha256, size, address, received_at, package_id)
      VALUES ('x', 'x', 'x', 1, 'x', 'x', '${id}')`,
    ],
    ['an account that is gone while it publishes', `DELETE FROM accounts WHERE id = '${store.ids.ada}'`],
    ['a user name twice', `UPDATE accounts SET username = 'ada'`],
    ['an e-mail address twice', `UPDATE accounts SET email = 'ada@example.com'`],
    ['a validation of its own', `UPDATE accounts SET validation = 'perhaps'`],
  ] as const) {
    await t.rejects(
      db.transaction((tx) => tx.script(text)),
      /constraint/,
      label,
    );
  }
});
