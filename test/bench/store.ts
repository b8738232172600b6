// A data directory to measure on: accounts, packages and revisions put in straight through the records.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openStore, type Store } from '#src/appliance.ts';
import { initialConfig } from '#src/config.ts';
import { randomIds } from '#domain/ids.ts';
import { newWrappingKey } from '#src/secrets.ts';

export interface FilledStore {
  directory: string;
  store: Store;
  accountId: string;
  token: string;
  /** The ids of the packages, in the order of their names. */
  packageIds: string[];
}

/** Makes a store with so many snaps, each with so many revisions, of one account. */
export async function fillStore(packages: number, revisionsEach: number): Promise<FilledStore> {
  const directory = mkdtempSync(join(tmpdir(), 'larder-bench-'));
  const settings = {
    baseUrl: 'http://127.0.0.1:8080',
    listen: '127.0.0.1:0',
    storeAdminId: 'root',
    storeAdminDigest: '0'.repeat(96),
  };
  writeFileSync(join(directory, 'larder.toml'), initialConfig(settings), { mode: 0o600 });
  for (const key of ['site.key', 'master.key']) writeFileSync(join(directory, key), newWrappingKey(), { mode: 0o400 });
  const store = await openStore({ directory });
  const at = new Date().toISOString();
  const accountId = randomIds.id();
  const packageIds = Array.from({ length: packages }, () => randomIds.id());
  await store.records.change({ at, actor: 'bench', action: 'fill', object: 'store' }, async (tx) => {
    await tx.accounts.add({
      id: accountId,
      username: 'ada',
      displayName: 'Ada',
      email: 'ada@example.com',
      validation: 'unproven',
      createdAt: at,
    });
    for (const [index, id] of packageIds.entries()) {
      await tx.packages.claim({
        id,
        namespace: 'snap',
        name: `snap-${index}`,
        type: 'snap',
        publisherId: accountId,
        private: false,
        status: 'registered',
        title: null,
        summary: null,
        description: null,
        defaultTrack: null,
        links: {},
        icon: null,
        createdAt: at,
      });
      await tx.tracks.add(id, {
        name: 'latest',
        versionPattern: null,
        automaticPhasingPercentage: null,
        createdAt: at,
      });
      for (let revision = 1; revision <= revisionsEach; revision++) {
        await tx.revisions.add({
          packageId: id,
          revision,
          sha3_384: (index * revisionsEach + revision).toString(16).padStart(96, '0'),
          sha256: ''.padStart(64, '0'),
          size: 4096,
          version: '1.0',
          status: 'approved',
          createdAt: at,
          createdBy: accountId,
          details: {
            architectures: ['amd64'],
            base: 'core24',
            confinement: 'strict',
            grade: 'stable',
            type: 'app',
            apps: ['run'],
          },
          packageYaml: null,
          craftYaml: null,
        });
      }
    }
  });
  const { token } = await store.authority.issue({ accountId }, { actor: 'bench', action: 'token issue' });
  return { directory, store, accountId, token, packageIds };
}
