// Acts that undo something, each after everything that can happen between. Undoing affects the original change, and no
// later change.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { everyAct } from '#acts/index.ts';
import { minutes } from '#domain/clock.ts';
import { startStore } from '#test/fixtures/appliance.ts';
import { isLongLane } from '#test/fixtures/large.ts';
import { addRevision } from '#test/fixtures/packages/packages.ts';
import { accountRows } from './undo/accounts.ts';
import { brandRows } from './undo/brands.ts';
import { deviceRows } from './undo/devices.ts';
import { fleetRows } from './undo/fleets.ts';
import { imageRows } from './undo/images.ts';
import { packageRows } from './undo/packages.ts';
import { revisionRows } from './undo/revisions.ts';
import { rolloutRows } from './undo/rollouts.ts';
import { siteRows } from './undo/sites.ts';
import { trackRows } from './undo/tracks.ts';
import { vulnerabilityRows } from './undo/vulnerabilities.ts';
import type { UndoRow, World } from './undo/world.ts';

t.setTimeout(300_000);

const rows: Readonly<Record<string, UndoRow>> = {
  ...revisionRows,
  ...packageRows,
  ...trackRows,
  ...rolloutRows,
  ...imageRows,
  ...brandRows,
  ...accountRows,
  ...siteRows,
  ...deviceRows,
  ...vulnerabilityRows,
  ...fleetRows,
};

/** Undoing acts that are tested elsewhere, with the events between: the file, and the name of a test in it. */
const elsewhere: Record<string, readonly [file: string, test: string]> = {
  end_rollout: ['jobs/releases/raise-rollouts.test.ts', 'another change of the channel ends a rollout'],
  remove_openid_identity: [
    'identity/openid/roles.test.ts',
    'a group cannot leave the store without a local administrator',
  ],
  end_certificate_session: [
    'identity/certificates/login.test.ts',
    'a session ends when its certificate is revoked, and when it cannot be checked for an hour',
  ],
  end_openid_sessions: [
    'identity/openid/roles.test.ts',
    'the provider confirms a login every 15 minutes, and roles and sessions end with its word',
  ],
  remove_larder_release: [
    'transfers/accept/larder-releases.test.ts',
    'a kept release is left out, and a removal between preview and acceptance counts',
  ],
  remove_approver_key: [
    'acts/approvals/signed-approvals.test.ts',
    'a signature does not count after its key was removed, even if the key returns',
  ],
  restore_blob: ['integrity/passing-errors.test.ts', 'a quarantined blob with a valid hash returns by itself'],
  restore_missing_blobs: [
    'backup/restore-missing.long.test.ts',
    'a missing blob is restored from a backup, after any event in between',
  ],
  withdraw_transfer: [
    'transfers/source-acts.test.ts',
    'a transfer is withdrawn only while no later change depends on it, even if the same revision was released again',
  ],
};

/** Undoing acts that leave no trace of the original change for an event between to affect, and why. */
const final: Record<string, string> = {
  sweep_image_blobs: 'a job removes files that no record names any longer',
  sweep_invites: 'a job removes invites that ended long ago and let no account in',
  sweep_proposals: 'a job removes proposals that ended long ago and cannot be approved',
  sweep_pull_credentials: 'a job removes credentials that ended long ago and open nothing',
  restore_store: 'a store is made from a backup in an empty folder, where nothing happened before',
};

const undoing =
  /^(?:withdraw|restore|revoke|remove|end|disable|enable|distrust|unsubscribe|delete|sweep|leave|unregister)$/;

t.test('every act that undoes something is tried after events between, or names a test or a reason', async (t) => {
  const acts = everyAct.map(({ name }) => name).filter((name) => name.split(/[_ ]/).some((word) => undoing.test(word)));
  const listed = [rows, elsewhere, final].flatMap((list) => Object.keys(list));
  t.strictSame(
    acts.filter((name) => !listed.includes(name)),
    [],
    'add a row for a new act',
  );
  const knownNames = new Set([...everyAct.map(({ name }) => name), 'close, then release again']);
  t.strictSame(
    listed.filter((name) => !knownNames.has(name)),
    [],
    'an act that is gone',
  );
  t.equal(new Set(listed).size, listed.length, 'each is listed once');
  for (const [file, test] of Object.values(elsewhere)) {
    const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
    const names = [...text.matchAll(/^(?:t\.test|largeTest)\(\s*'([^']+)',/gm)].map(([, name]) => name);
    t.ok(names.includes(test), `${file}: ${test}`);
  }
  for (const reason of Object.values(final)) t.match(reason, /^\S+( \S+){3,}[^.]$/);
});

/** How many of the other events `npm test` tries; the lane "long" tries all, and a restart. */
const maxOtherEvents = 2;

for (const [act, { start = startStore, done, undone, cases }] of Object.entries(rows)) {
  t.test(`${act}, after events between`, async (t) => {
    const store = await start(t);
    let number = 0;
    const [first, ...others] = cases;
    const restarted = { ...first!, between: 'a restart', event: () => store.restart() };
    const tried = isLongLane ? [first!, restarted, ...others] : [first!, ...others.slice(0, maxOtherEvents)];
    for (const { between, event, status: expected = 200, after, equals } of tried) {
      // Time passes between, and sessions end.
      const [root, ada, bob] = [await store.as('root'), await store.as('ada'), await store.as('bob')];
      const name = `${act.replaceAll(/[^a-z]+/g, '-').slice(0, 20)}-${String(number++)}`;
      const { id } = (await ada.post('/v1/snap', { name })).body as { id: string };
      for (const revision of [1, 2]) await addRevision(store, id, revision, { size: 1000 * number + revision });
      const world: World = { store, root, ada, bob, name, id, at: `/internal/v1/packages/snap/${name}`, notes: {} };
      await done(world);
      await event?.(world);
      const status = await undone(world);
      t.equal(status === 204 || status === 201 ? 200 : status, expected, `after ${between}: the status`);
      t.strictSame(await after(world), equals, `after ${between}: what is left`);
      store.clock.advance(minutes(1));
    }
  });
}
