// The same migration as PostgreSQL reads it.
import t from 'tap';

import { migrations, newStore } from '#data/upgrade.ts';
import { migrate } from '#engine/migrate.ts';
import { openPostgres } from '#test/fixtures/records/engines.ts';
import { beforeLicenses } from '#test/fixtures/records/older-records.ts';
import { sharedPostgres } from '#test/fixtures/servers/postgres.ts';
import { addUnfixedReleases, checkFixedReleases } from './unfixed-releases.ts';

t.test('existing releases keep the components that devices are given today, on a server too', async (t) => {
  const db = await openPostgres(await (await sharedPostgres(t)).newSchema());
  t.teardown(() => db.close());
  await migrate(db, migrations('postgres'), newStore('postgres'));
  await db.transaction((tx) => tx.script(beforeLicenses));
  await addUnfixedReleases(db);
  t.ok((await migrate(db, migrations('postgres'), newStore('postgres'))).includes('0096-components-and-licenses'));
  await checkFixedReleases(t, db);
});
