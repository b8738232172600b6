// The number of database pages that a change writes: each is synced to the disk before the response.
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import SQLite from 'better-sqlite3';
import t from 'tap';

import { registerName } from '#acts/packages/registration.ts';
import { pushReleases } from '#acts/releases/releases.ts';
import { channel } from '#domain/releases/channel.ts';
import type { randomIds } from '#domain/ids.ts';
import { unlimited } from '#domain/accounts/quota.ts';
import { fillStore } from '#test/bench/harness/store.ts';
import { logFrames } from '#test/fixtures/records/log-frames.ts';

const changes = 40;

/**
 * Ids that are spread like random ones and the same in every run: their places in the indexes determine the number of
 * pages that a change writes.
 */
function sameIds(): typeof randomIds {
  let made = 0;
  const next = (): string =>
    createHash('sha256')
      .update(`id ${String(made++)}`)
      .digest('hex');
  return {
    id: () => next().slice(0, 32),
    uuid: () => next().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5'),
  };
}

t.test('rows that are written together are stored together', async (t) => {
  const { directory, store, accountId, packageIds } = await fillStore(300, 3, sameIds());
  const file = join(directory, 'larder.db');
  t.teardown(async () => {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  /** The smaller of two rounds: in the other one, counters were written as well, which happens once a second. */
  const pagesOf = async (change: (number: number) => Promise<unknown>): Promise<number> => {
    const rounds: number[] = [];
    for (const begin of [0, changes]) {
      const db = new SQLite(file);
      db.pragma('wal_checkpoint(TRUNCATE)');
      db.close();
      for (let number = begin; number < begin + changes; number++) await change(number);
      rounds.push(logFrames(file).pages / changes);
    }
    return Math.min(...rounds);
  };
  const actor = { actor: accountId };
  const defaultQuota = { bytes: unlimited, packages: unlimited };
  const name = {
    namespace: 'snap',
    type: 'snap',
    publisherId: accountId,
    private: false,
    reserved: [],
    defaultQuota,
  } as const;
  const registered = await pagesOf((number) =>
    store.acts.do(registerName, actor, { ...name, name: `new-${number}`, freshId: store.newId.id() }),
  );
  // 8.6 to 9.1. The number of packages of its publisher is in a row that the change writes anyway, so it is not
  // counted.
  t.ok(registered < 9.5, `a name: ${registered}; it was 14.4`);

  const release = async (number: number, revision: number): Promise<void> => {
    const subject = (await store.records.packages.byId(packageIds[number]!))!;
    const stable = { channel: channel('latest', 'stable'), progressive: { paused: null, percentage: null } };
    await store.acts.do(pushReleases, actor, { package: subject, releases: [{ ...stable, revision, resources: [] }] });
  };
  for (let number = 0; number < 2 * changes; number++) await release(number, 1);
  const released = await pagesOf((number) => release(number, 2));
  t.ok(released < 8.8, `a release into a channel that held another: ${released}; it was 10.8`);
});
