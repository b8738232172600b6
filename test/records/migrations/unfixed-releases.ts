// A store with releases from before their components were fixed, and their right values afterwards; for each engine.
import type { Test } from 'tap';

import { sql, type Database } from '#engine/database.ts';
import { records } from '#records/index.ts';

const at = '2026-03-01T12:00:00.000Z';
const component = (name: string, revision: number | null) => ({ name, type: 'component/standard', revision });

/** Adds a snap with components that were released, pushed, deleted and pushed for another revision; and a charm. */
export async function addUnfixedReleases(db: Database): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(sql`
      INSERT INTO accounts (id, username, display_name, email, validation, created_at)
      VALUES ('ada', 'ada', 'Ada', 'ada@example.com', 'verified', ${at})`);
    for (const namespace of ['snap', 'charm'])
      await tx.run(sql`
        INSERT INTO packages (id, namespace, name, type, publisher_id, private, status, links, created_at)
        VALUES (${namespace}, ${namespace}, 'hello', ${namespace}, 'ada', 0, 'published', '{}', ${at})`);
    for (const id of ['snap', 'charm']) {
      for (const revision of [1, 2])
        await tx.run(sql`
          INSERT INTO revisions (package_id, revision, sha3_384, sha256, size, version, status, created_at, created_by, details)
          VALUES (${id}, ${revision}, ${`${id} ${revision}`}, 'x', 1, '1', 'released', ${at}, 'ada', '{}')`);
    }
    for (const [revision, name] of [
      [1, 'more'],
      [1, 'words'],
      [2, 'words'],
    ] as const)
      await tx.run(sql`
        INSERT INTO declared_resources (package_id, revision, name, type, optional)
        VALUES ('snap', ${revision}, ${name}, 'component/standard', 1)`);
    // Of the words 3 are deleted, and 4 are for another revision of the snap.
    for (const [revision, serves] of [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 2],
    ] as const) {
      await tx.run(sql`
        INSERT INTO resource_revisions
          (package_id, name, revision, type, sha256, sha3_384, sha384, sha512, size, architectures, package_revision, created_at,
            created_by, deleted_at)
        VALUES ('snap', 'words', ${revision}, 'component/standard', 'x', ${String(revision)}, 'x', 'x', 1, '["all"]', ${serves},
          ${at}, 'ada', ${revision === 3 ? at : null})`);
      await tx.run(sql`
        INSERT INTO resource_pairs (package_id, name, revision, package_revision)
        VALUES ('snap', 'words', ${revision}, ${serves})`);
    }
    const releases: [string, string, number, object[]][] = [
      ['snap', 'latest/edge', 1, [component('more', null), component('words', null)]],
      ['snap', 'latest/stable', 1, [component('more', null), component('words', 1)]],
      ['charm', 'latest/edge', 1, [{ name: 'image', type: 'oci-image', revision: 7 }]],
    ];
    for (const [id, channel, revision, resources] of releases)
      await tx.run(sql`
        INSERT INTO releases (package_id, channel, slot, progressive, revision, resources, released_at)
        VALUES (${id}, ${channel}, 'all', 0, ${revision}, ${JSON.stringify(resources)}, ${at})`);
    for (const [seq, id, revision] of [
      [1, 'snap', 2],
      [2, 'snap', null],
      [1, 'charm', 1],
    ] as const)
      await tx.run(sql`
        INSERT INTO past_releases (package_id, seq, channel, slot, revision, released_at)
        VALUES (${id}, ${seq}, 'latest/beta', 'all', ${revision}, ${at})`);
  });
}

/** Holds the releases against what devices were given before. */
export async function checkFixedReleases(t: Test, db: Database): Promise<void> {
  const { releases, pastReleases } = records(db);
  t.same(
    (await releases.held('snap')).map(({ channel, resources }) => [channel, resources]),
    [
      ['latest/edge', [component('more', null), component('words', 2)]],
      ['latest/stable', [component('more', null), component('words', 1)]],
    ],
  );
  t.same((await releases.held('charm'))[0]?.resources, [{ name: 'image', type: 'oci-image', revision: 7 }]);
  t.same(
    await pastReleases.resourcesOf('snap', 2),
    [component('words', 4)],
    'of a revision that no channel holds any more',
  );
  t.equal(await pastReleases.resourcesOf('charm', 1), undefined);
  t.same(await Promise.all([4, 2].map((revision) => pastReleases.hasIncluded('snap', 'words', revision))), [
    true,
    false,
  ]);
}
