// A store grown to many packages by bulk SQL, as fast as the disk takes it: through the records a row costs a tenth of a millisecond.
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import { pino } from 'pino';

import { openStore } from '#data/store.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { createCatalogKeeper } from '#jobs/packages/keep-catalog.ts';
import { maxSearchedEntries } from '#operations/audit/audit-page.ts';
import { appendAudit } from '#records/audit/audit.ts';
import { writable } from '#test/fixtures/records/writable.ts';
import { unknownBill } from '#domain/vulnerabilities/bill-of-materials.ts';
import { snapDetails } from '#test/fixtures/records/filler.ts';

const silent = pino({ level: 'silent' });

/** Each package has this many revisions; two are released. */
const revisionsEach = 10;

/**
 * Adds this many snaps to the records of a data directory, which are in a file, with related rows: a publisher for each
 * hundred; a brand, an export, a token, credentials and an upload in manual review for each publisher; and an entry of
 * the audit log for each package. A list with pages has more than one page in a small store too.
 */
export async function grow(directory: string, packages: number): Promise<void> {
  const people = Math.max(150, Math.ceil(packages / 100));
  const file = join(directory, 'larder.db');
  const db = new SQLite(file);
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -262144');
  db.transaction(() => {
    db.exec(numbered('people', people));
    db.exec(numbered('names', packages));
    db.exec(rows(new Date().toISOString(), people));
    // The store computes the digests of all rows again when it is opened.
    db.exec(`DELETE FROM row_digest_tables WHERE of_table GLOB '(schema *'`);
  })();
  db.close();
  await growAudit(directory, Math.max(maxSearchedEntries.byPrograms + 1000, packages));
}

const numbered = (name: string, count: number): string => `
  CREATE TEMP TABLE ${name} (i INTEGER PRIMARY KEY, id TEXT);
  WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${String(count - 1)})
    INSERT INTO ${name} SELECT i, lower(hex(randomblob(16))) FROM n;`;

const rows = (at: string, people: number): string => `
  INSERT INTO accounts (id, username, display_name, email, validation, created_at)
    SELECT id, 'person-' || i, 'Person ' || i, 'person-' || i || '@example.com', 'unproven', '${at}' FROM people;
  INSERT INTO brands (account_id, name, created_at, created_by) SELECT id, 'Brand ' || i, '${at}', id FROM people;
  INSERT INTO macaroons (session_id, account_id, root_key_id, valid_since, valid_until)
    SELECT lower(hex(randomblob(16))), id, (SELECT id FROM root_keys LIMIT 1), '${at}', '2100-01-01T00:00:00.000Z' FROM people;
  INSERT INTO exports (at, actor, what, name, sha256, bytes)
    SELECT '${at}', 'cli:root', 'backup', 'backup-' || i, lower(hex(randomblob(32))), 1000000 FROM people;
  INSERT INTO packages (id, namespace, name, type, publisher_id, private, status, links, created_at)
    SELECT names.id, 'snap', 'grown-' || names.i, 'snap', people.id, 0, 'published', '{}', '${at}'
    FROM names JOIN people ON people.i = names.i % ${String(people)};
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${String(revisionsEach)})
    INSERT INTO revisions (package_id, revision, sha3_384, sha256, size, version, status, created_at, created_by, details)
    SELECT packages.id, n.i, lower(hex(randomblob(48))), lower(hex(randomblob(32))), 4096, n.i, 'approved', '${at}',
      publisher_id, '${JSON.stringify(snapDetails)}'
    FROM packages JOIN names ON names.id = packages.id CROSS JOIN n;
  INSERT INTO revision_bills (package_id, revision, bill)
    SELECT package_id, revision, '${JSON.stringify(unknownBill('It has no file here.'))}' FROM revisions JOIN names ON names.id = package_id;
  INSERT INTO uploads (id, sha3_384, sha256, size, address, received_at, package_id, pushed_by, pushed_at, status, revision, seq)
    SELECT lower(hex(randomblob(16))), sha3_384, sha256, size, '127.0.0.1', '${at}', package_id, created_by, '${at}',
      'approved', revision, revisions.rowid + 1000000
    FROM revisions JOIN names ON names.id = package_id;
  INSERT INTO uploads (id, sha3_384, sha256, size, address, received_at, package_id, pushed_by, pushed_at, status, seq)
    SELECT lower(hex(randomblob(16))), lower(hex(randomblob(48))), lower(hex(randomblob(32))), 4096, '127.0.0.1', '${at}',
      names.id, people.id, '${at}', 'scanned', 100000000 + people.i
    FROM people JOIN names ON names.i = people.i % (SELECT count(*) FROM names);
  INSERT INTO releases (package_id, channel, slot, progressive, architecture, revision, resources, released_at)
    SELECT id, channel, 'amd64', 0, 'amd64', 1, '[]', '${at}'
    FROM names CROSS JOIN (SELECT 'latest/stable' AS channel UNION ALL SELECT 'latest/edge');
  INSERT INTO past_releases (package_id, seq, channel, slot, revision, released_at)
    SELECT package_id, CASE channel WHEN 'latest/stable' THEN 1 ELSE 2 END, channel, slot, 1, '${at}'
    FROM releases JOIN names ON names.id = package_id;
  INSERT INTO image_credentials (id, package_id, resource, kind, secret_sha256, sealed_secret, issued_at)
    SELECT lower(hex(randomblob(16))), names.id, 'image-' || people.i, 'pull', lower(hex(randomblob(32))), 'sealed', '${at}'
    FROM people JOIN names ON names.i = people.i % (SELECT count(*) FROM names);`;

/** Entries that follow one another as in any log, in one transaction; and the catalog as it is a while later. */
async function growAudit(directory: string, entries: number): Promise<void> {
  const store = writable(await openStore({ directory }));
  const sealing = { siteKey: store.siteKey, file: store.sealing.file, report: () => undefined };
  await createCatalogKeeper({ records: store.records, now: () => new Date(), log: silent }).job.run();
  await store.close();
  const database = openSqlite(join(directory, 'larder.db'));
  await database.transaction(async (queries, commit) => {
    for (let number = 0; number < entries; number++) {
      const entry = {
        at: new Date().toISOString(),
        actor: 'cli:root',
        action: 'register_name',
        object: `snap/grown-${number}`,
      };
      await appendAudit({ db: queries, commit, sealing }, entry);
    }
  });
  await database.close();
}
