// The text of a release has everything that the release gives to devices.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import t from 'tap';

import { migrations } from '#data/upgrade.ts';
import { pastReleaseText, releaseText, slotText, type DescribedRelease } from '#domain/releases/release-text.ts';
import { readRolloutPlan } from '#domain/releases/rollout.ts';
import { migrate } from '#engine/migrate.ts';
import { columnsOf, databaseOf, engine } from '#test/fixtures/records/engines.ts';

const release: DescribedRelease = {
  revision: 7,
  resources: [
    { name: 'words', revision: 2 },
    { name: 'more', revision: null },
  ],
  progressive: { percentage: 20, paused: true },
  expiresAt: '2026-12-01T00:00:00Z',
};
const everybody = { percentage: null, paused: null };

t.test('a release is described with all that it gives', (t) => {
  t.equal(releaseText(release), '7 with more none, words 2 for 20 %, paused, until 2026-12-01T00:00:00Z');
  t.equal(releaseText({ ...release, lifeDays: 30 }), '7 with more none, words 2 for 20 %, paused, ends after 30 days');
  const plain = { revision: 6, resources: [], progressive: everybody, expiresAt: null };
  t.equal(releaseText(plain), '6');
  t.equal(
    slotText([release, plain]),
    '6, and 7 with more none, words 2 for 20 %, paused, until 2026-12-01T00:00:00Z',
    'what is for everybody stands first',
  );
  t.equal(slotText([]), null);
  const past = {
    revision: 7,
    percentage: 20,
    paused: true,
    resources: release.resources,
    expiresAt: release.expiresAt,
  };
  t.equal(pastReleaseText(past), releaseText(release), 'the history has the same words');
  t.equal(pastReleaseText({ ...past, resources: null, expiresAt: null }), '7 for 20 %, paused', 'as far as it knows');
  t.equal(pastReleaseText({ ...past, revision: null }), null);
  t.end();
});

/** The columns of a release, each with another value for the release above; or why its text has it not. */
const columns: Readonly<Record<string, Partial<DescribedRelease> | string>> = {
  package_id: 'the line names the package',
  channel: 'the line names the channel',
  slot: 'the line names the slot',
  architecture: 'the slot names it',
  base_name: 'the slot names it',
  base_channel: 'the slot names it',
  released_at: 'it is the time of the change',
  progressive: { progressive: everybody },
  revision: { revision: 8 },
  progressive_percentage: { progressive: { percentage: 99, paused: true } },
  progressive_paused: { progressive: { percentage: 20, paused: false } },
  resources: { resources: [{ name: 'words', revision: 3 }] },
  expires_at: { expiresAt: '2027-01-01T00:00:00Z' },
  rollout: { plan: readRolloutPlan({ steps: [20] }) },
};

t.test('each column of a release changes its text, or appears elsewhere in the line', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'larder-release-text-'));
  t.teardown(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  const db = await databaseOf(t, directory);
  if (engine === 'sqlite') await migrate(db, migrations());
  const names = (await columnsOf(db, 'releases')).map(({ name }) => name);
  t.same(names.sort(), Object.keys(columns).sort(), 'a new column is decided on here');
  for (const [name, other] of Object.entries(columns))
    if (typeof other !== 'string') t.not(releaseText({ ...release, ...other }), releaseText(release), name);
});
