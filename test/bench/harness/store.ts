// A data directory to measure on: accounts, packages and revisions put in straight through the records.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openStore, type WritableStore } from '#test/fixtures/records/writable.ts';
import { channel, risks } from '#domain/releases/channel.ts';
import { initialConfig } from '#configuration/config.ts';
import { randomIds } from '#domain/ids.ts';
import { newWrappingKey } from '#data/secrets.ts';
import { filler, snapDetails } from '#test/fixtures/records/filler.ts';

export interface FilledStore {
  directory: string;
  store: WritableStore;
  accountId: string;
  token: string;
  /** The ids of the packages, in the order of their names. */
  packageIds: string[];
}

export const firstSettings = {
  baseUrl: 'http://127.0.0.1:8080',
  listen: '127.0.0.1:0',
  storeAdminId: 'root',
  storeAdminDigest: '0'.repeat(96),
};

/** Makes a store with so many snaps, each with so many revisions, of one account. */
export async function fillStore(packages: number, revisionsEach: number, ids = randomIds): Promise<FilledStore> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-bench-'));
  writeFileSync(join(directory, 'larder.toml'), initialConfig(firstSettings), { mode: 0o600 });
  for (const key of ['site.key', 'master.key']) writeFileSync(join(directory, key), newWrappingKey(), { mode: 0o400 });
  const store = await openStore({ directory, newId: ids });
  const at = new Date().toISOString();
  const accountId = ids.id();
  const packageIds = Array.from({ length: packages }, () => ids.id());
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, async (tx) => {
    const fill = filler(tx, at);
    await fill.account(accountId, 'ada');
    for (const [index, id] of packageIds.entries()) {
      await fill.package({ id, name: `snap-${index}`, publisherId: accountId });
      for (let revision = 1; revision <= revisionsEach; revision++) {
        await fill.revision({ packageId: id, revision, createdBy: accountId, details: snapDetails });
      }
    }
  });
  const { token } = await store.authority.issue({ accountId }, { actor: 'bench' });
  return { directory, store, accountId, token, packageIds };
}

/** 1,000 names of an account, the first of them with 20 tracks that all hold something. */
export async function addMeasured(store: WritableStore, accountId: string): Promise<void> {
  const at = new Date().toISOString();
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, async (tx) => {
    const fill = filler(tx, at);
    for (let number = 0; number < 1000; number++) {
      const id = randomIds.id();
      const tracks = number === 0 ? Array.from({ length: 19 }, (_, track) => `${track}.0`) : [];
      const packageRecord = { id, name: `measured-${number}`, publisherId: accountId, status: 'published' } as const;
      await fill.package(packageRecord, tracks);
      if (number > 0) continue;
      for (let revision = 1; revision <= 100; revision++) {
        const made = { packageId: id, revision, createdBy: accountId, details: snapDetails };
        await fill.revision({ ...made, status: 'released' });
      }
      const channels = ['latest', ...tracks].flatMap((track) => risks.map((risk) => channel(track, risk).name));
      for (const [index, name] of channels.entries()) {
        const slot = { slot: 'amd64', architecture: 'amd64' };
        await fill.release({ packageId: id, channel: name, revision: 1 + index, ...slot });
      }
    }
  });
}
