// The migration that fixes the components of releases: existing stores serve the same components as before.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { migrations } from '#data/upgrade.ts';
import { migrate } from '#engine/migrate.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { addUnfixedReleases, checkFixedReleases } from './unfixed-releases.ts';

t.test('existing releases keep the components that devices are given today', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'larder-components-'));
  const db = openSqlite(join(directory, 'larder.db'));
  t.teardown(async () => {
    await db.close();
    rmSync(directory, { recursive: true });
  });
  const all = migrations();
  const before = all.filter(({ name }) => name < '0096');
  await migrate(db, before);
  await addUnfixedReleases(db);
  t.ok((await migrate(db, all)).includes('0096-components-and-licenses'));
  await checkFixedReleases(t, db);
});
