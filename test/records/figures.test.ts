// Figures that triggers maintain: after any change they equal the counts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import t from 'tap';

import { migrations } from '#data/upgrade.ts';
import { migrate } from '#engine/migrate.ts';
import type { Database, SqlStatement } from '#engine/database.ts';
import { databaseOf, engine, statement } from '#test/fixtures/records/engines.ts';

const at = '2026-03-01T12:00:00.000Z';
const people = ['ada', 'bob'];
const names = ['one', 'two', 'three'];
/** Few contents, so that packages share them; each has its own size. */
const contents = ['a', 'b', 'c', 'd'];
const digest = (content: string): string => content.repeat(96);
const size = (content: string): number => 10 ** contents.indexOf(content);

interface Step {
  package: string;
  content: string;
  person: string;
  number: number;
}

const held = (step: Step): Record<string, string | number> => ({
  package: step.package,
  content: digest(step.content),
  short: step.content.repeat(64),
  size: size(step.content),
  person: step.person,
  number: step.number,
  at,
});

const columns = `(SELECT id FROM packages WHERE name = :package)`;
const isThere = `EXISTS (SELECT 1 FROM packages WHERE name = :package)`;

/** Every change of the counted rows; each does nothing if it is not possible. */
const changes: Record<string, string> = {
  register: `
    INSERT INTO packages (id, namespace, name, type, publisher_id, private, status, links, created_at)
    VALUES ('id of ' || :package, 'snap', :package, 'snap', :person, 0, 'registered', '{}', :at) ON CONFLICT DO NOTHING`,
  unregister: `DELETE FROM packages WHERE name = :package`,
  'hand over': `UPDATE packages SET publisher_id = :person WHERE name = :package`,
  'give another id': `UPDATE packages SET id = id || :number WHERE name = :package`,
  approve: `
    INSERT INTO revisions (package_id, revision, sha3_384, sha256, size, version, status, created_at, created_by, details)
    SELECT ${columns}, 1 + coalesce((SELECT max(revision) FROM revisions WHERE package_id = ${columns}), 0),
      :content, :short, :size, '1', 'approved', :at, :person, '{}'
    WHERE ${isThere} ON CONFLICT DO NOTHING`,
  'delete a revision': `
    UPDATE revisions SET deleted_at = :at WHERE package_id = ${columns} AND sha3_384 = :content AND deleted_at IS NULL`,
  release: `UPDATE revisions SET status = 'released' WHERE package_id = ${columns} AND sha3_384 = :content`,
  'push a resource': `
    INSERT INTO resource_revisions
      (package_id, name, revision, type, sha256, sha3_384, sha384, sha512, size, architectures, created_at, created_by)
    SELECT ${columns}, 'config', 1 + coalesce((SELECT max(revision) FROM resource_revisions WHERE package_id = ${columns}), 0),
      'file', :short, :content, :content, :content, :size, '[]', :at, :person
    WHERE ${isThere} ON CONFLICT DO NOTHING`,
  'delete a resource': `
    UPDATE resource_revisions SET deleted_at = :at WHERE package_id = ${columns} AND sha3_384 = :content AND deleted_at IS NULL`,
  'remove a resource': `DELETE FROM resource_revisions WHERE package_id = ${columns} AND sha3_384 = :content`,
  'push a layer': `
    INSERT INTO image_blobs (package_id, resource, sha256, sha3_384, size, pushed_at)
    SELECT ${columns}, 'image-' || :number, :short, :content, :size, :at WHERE ${isThere} ON CONFLICT DO NOTHING`,
  'remove layers': `DELETE FROM image_blobs WHERE package_id = ${columns} AND sha3_384 = :content`,
  'push a manifest': `
    INSERT INTO image_manifests (package_id, resource, sha256, sha3_384, size, media_type, pushed_at)
    SELECT ${columns}, 'image-' || :number, :short, :content, :size, 'x', :at WHERE ${isThere} ON CONFLICT DO NOTHING`,
  'remove manifests': `DELETE FROM image_manifests WHERE package_id = ${columns} AND sha3_384 = :content`,
  upload: `
    INSERT INTO uploads (id, sha3_384, sha256, size, address, received_at, seq)
    VALUES ('upload ' || :number, :content, :short, :size, 'x', :at, :number) ON CONFLICT DO NOTHING`,
  claim: `
    UPDATE uploads SET package_id = ${columns}, pushed_by = :person, pushed_at = :at, status = 'new'
    WHERE id = 'upload ' || :number AND package_id IS NULL AND ${isThere}`,
  scan: `UPDATE uploads SET status = 'scanned' WHERE id = 'upload ' || :number AND status = 'new'`,
  reject: `UPDATE uploads SET status = 'rejected', errors = '[]' WHERE id = 'upload ' || :number AND status IN ('new', 'scanned')`,
  accept: `UPDATE uploads SET status = 'approved', revision = 1 WHERE id = 'upload ' || :number AND status IN ('new', 'scanned')`,
  forget: `DELETE FROM uploads WHERE id = 'upload ' || :number`,
};

/** Each figure with the query that counts it. */
const figures: Record<string, [kept: string, counted: string]> = {
  'what packages keep': [
    'SELECT package_id, sha3_384, size FROM kept_contents ORDER BY 1, 2',
    'SELECT package_id, sha3_384, size FROM package_contents ORDER BY 1, 2',
  ],
  'bytes of packages': [
    'SELECT package_id, publisher_id, bytes FROM package_figures WHERE bytes > 0 ORDER BY 1',
    `SELECT package_id, publisher_id, sum(size) AS bytes FROM package_contents JOIN packages ON packages.id = package_id
     GROUP BY package_id, publisher_id ORDER BY 1`,
  ],
  'revisions of packages': [
    'SELECT package_id, revisions FROM package_figures WHERE revisions > 0 ORDER BY 1',
    `SELECT package_id, count(*) AS revisions FROM revisions WHERE deleted_at IS NULL GROUP BY package_id ORDER BY 1`,
  ],
  'what lists show': [
    'SELECT id, revisions, bytes FROM packages WHERE revisions > 0 OR bytes > 0 ORDER BY 1',
    'SELECT package_id AS id, revisions, bytes FROM package_figures WHERE revisions > 0 OR bytes > 0 ORDER BY 1',
  ],
  'bytes of publishers': [
    'SELECT publisher_id, bytes FROM publisher_figures WHERE bytes > 0 ORDER BY 1',
    `SELECT publisher_id, sum(size) AS bytes
     FROM (SELECT DISTINCT publisher_id, sha3_384, size FROM package_contents JOIN packages ON packages.id = package_id) AS held
     GROUP BY publisher_id ORDER BY 1`,
  ],
  'packages of publishers': [
    'SELECT publisher_id, packages FROM publishers WHERE packages <> 0 ORDER BY 1',
    'SELECT publisher_id, count(*) AS packages FROM packages GROUP BY publisher_id ORDER BY 1',
  ],
  'the whole': [
    `SELECT noun, row_count, bytes FROM noun_versions WHERE noun IN ('packages', 'revisions', 'uploads') ORDER BY 1`,
    `SELECT 'packages' AS noun, (SELECT count(*) FROM packages) AS row_count,
       (SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT sha3_384, size FROM package_contents) AS held) AS bytes
     UNION ALL SELECT 'revisions', (SELECT count(*) FROM revisions WHERE deleted_at IS NULL), 0
     UNION ALL SELECT 'uploads', (SELECT count(*) FROM uploads), 0`,
  ],
  'figures of what is gone': [
    'SELECT package_id FROM package_figures WHERE package_id NOT IN (SELECT id FROM packages)',
    'SELECT 1 WHERE 0 = 1',
  ],
};

/** A database as the migrations make it, of a test. */
async function empty(test: { teardown(work: () => unknown): void }): Promise<Database> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-figures-'));
  test.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const db = await databaseOf(test, directory);
  if (engine === 'sqlite') await migrate(db, migrations());
  const person = `
    INSERT INTO accounts (id, username, display_name, email, validation, created_at)
    VALUES (:person, :person, :person, :person || '@example.com', 'unproven', :at)`;
  await db.transaction(async (tx) => {
    for (const name of people) await tx.run(bound(person, { person: name, at }));
  });
  return db;
}

/** Each change several times, in a possible order. */
const each: [string, Step][] = [
  ...['register', 'hand over', 'approve', 'release', 'delete a revision', 'push a resource', 'delete a resource'],
  ...['remove a resource', 'push a layer', 'push a manifest', 'upload', 'claim', 'scan', 'reject', 'forget'],
  ...['upload', 'claim', 'accept', 'remove layers', 'remove manifests', 'approve', 'give another id', 'unregister'],
].map((name) => [name, { package: 'one', content: 'a', person: name === 'hand over' ? 'bob' : 'ada', number: 1 }]);

const steps = fc.array(
  fc.tuple(
    // Changes that fill come more often than changes that empty.
    fc.constantFrom(
      ...Object.keys(changes),
      'register',
      'register',
      'approve',
      'approve',
      'push a layer',
      'upload',
      'claim',
    ),
    fc.record({
      package: fc.constantFrom(...names),
      content: fc.constantFrom(...contents),
      person: fc.constantFrom(...people),
      number: fc.integer({ min: 1, max: 3 }),
    }),
  ),
  { minLength: 20, maxLength: 60 },
);

t.test('after every change the figures equal the counts', async (t) => {
  const db = await empty(t);
  const compared = Object.entries(figures).map(
    ([name, [stored, counted]]) => [name, statement(stored), statement(counted)] as const,
  );
  const done = new Map<string, number>();
  const takenBack = new Error('nothing of it stays');
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const tried = db.transaction(async (tx) => {
        for (const [name, step] of all) {
          if ((await tx.run(bound(changes[name]!, held(step)))) > 0) done.set(name, (done.get(name) ?? 0) + 1);
          for (const [figure, stored, counted] of compared) {
            const [is, should] = [JSON.stringify(await tx.all(stored)), JSON.stringify(await tx.all(counted))];
            if (is !== should) throw new Error(`${figure} after '${name}': ${is} instead of ${should}`);
          }
        }
        throw takenBack;
      });
      await tried.catch((error: unknown) => {
        if (error !== takenBack) throw error;
      });
    }),
    { numRuns: process.env['LARDER_LONG'] === '1' ? 5000 : 150, examples: [[each]] },
  );
  t.same([...done.keys()].sort(), Object.keys(changes).sort(), 'each change was made');
});

const cache = new Map<string, { text: string[]; names: string[] }>();

/** A statement with the values that it names; the text is the same array each time, so that it is prepared once. */
function bound(text: string, values: Record<string, string | number>): SqlStatement {
  const parts = text.split(/:(\w+)/);
  const split = cache.get(text) ?? {
    text: parts.filter((_, at) => at % 2 === 0),
    names: parts.filter((_, at) => at % 2 === 1),
  };
  cache.set(text, split);
  return { text: split.text, values: split.names.map((name) => values[name]!) };
}
