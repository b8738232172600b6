// Long rules of fleets take few statements.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { migrations } from '#data/upgrade.ts';
import { migrate } from '#engine/migrate.ts';
import { openSqlite } from '#engine/sqlite/driver.ts';
import { fleetChanges } from '#records/fleets/fleets.ts';

t.test('many devices are added to a fleet with one statement for each hundred', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'larder-fleets-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const db = openSqlite(join(directory, 'larder.db'));
  await migrate(db, migrations());
  let statements = 0;
  const devices = Array.from({ length: 10_001 }, (_, at) => `acme/pump/${String(at).padStart(5, '0')}`);
  await db.transaction(async (queries) => {
    const run: typeof queries.run = (statement) => {
      statements += 1;
      return queries.run(statement);
    };
    const fleets = fleetChanges({ ...queries, run });
    const fleet = { name: 'pumps', kind: 'serial', createdAt: '', createdBy: '' } as const;
    await fleets.claim(fleet);
    await fleets.addSelectors(fleet, devices);
  });
  t.equal(statements, 1 + 101);
  t.same(
    await fleetChanges(db as never).allSelectors('pumps'),
    devices.map((text) => `serial:${text}`),
  );
  t.same(await fleetChanges(db as never).devicesWithSerial('09999'), ['acme/pump/09999']);
  await db.close();
});
