// A store with something in it, beside a folder for its backups and the copies of its keys.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

import { snapFixture, startStore, type TestAppliance } from '#test/fixtures/appliance.ts';
import { folder as newFolder } from '#test/cli/process.ts';
import { larder, type Outcome } from '#test/cli/world.ts';

export interface Saved {
  store: TestAppliance;
  /** The folder for the backups of a test. */
  folder: string;
  /** The folder with the copies of the store's keys. */
  keys: string;
  /** The file of ada's published snap within the store. */
  blob: string;
  sha3_384: string;
  /** Runs a command on the store. */
  run(line: string): Promise<Outcome>;
}

/** A store with a published snap of ada, and an unclaimed upload. */
export async function saved(t: Test): Promise<Saved> {
  const store = await startStore(t);
  const ada = await store.as('ada');
  await ada.post('/v1/snap', { name: 'tiny-app' });
  await ada.push('snap', 'tiny-app', await snapFixture('app-xz'));
  await store.anyone.upload('nobody has claimed this');
  const [revision] = (await ada.get('/v1/snap/tiny-app/revisions')).body.revisions as { 'sha3-384': string }[];
  const sha3_384 = revision!['sha3-384'];
  const folder = newFolder(t);
  const keys = join(folder, 'keys');
  mkdirSync(keys);
  for (const name of ['site.key', 'master.key']) cpSync(join(store.directory, name), join(keys, name));
  return {
    store,
    folder,
    keys,
    sha3_384,
    blob: join(store.directory, 'blobs/sha3', sha3_384.slice(0, 2), sha3_384),
    run: (line) => larder(line, { env: { LARDER_DATA: store.directory } }),
  };
}
