// A store with something in it, beside a folder for its backups and the copies of its keys; and a folder of its increments as of days ago.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

import { closeArchives, openArchives, readArchives } from '#backup/archives.ts';
import { checkArchives } from '#backup/check.ts';
import { backupNameAt, findIncrementBase, findState } from '#backup/folder.ts';
import { makeBackup } from '#backup/make.ts';
import { folderPlace, type BackupPlace } from '#backup/place.ts';
import { withBlobs } from '#data/blobs.ts';
import { copyForBackup } from '#data/copies.ts';
import { after, minutes } from '#domain/clock.ts';
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

export interface MadeBackup {
  file: string;
  madeAt: Date;
  /** Number of blobs of that state. */
  blobs: number;
}

/** Makes a backup as of a time, which builds on the newest one there. */
export async function addBackupAt({ store, folder }: Saved, place: BackupPlace, madeAt: Date): Promise<MadeBackup> {
  const { beside: writableStore } = store;
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace, { recursive: true });
  const file = `${place.name}/${backupNameAt(madeAt)}`;
  const { manifest } = await withBlobs(writableStore, async ({ blobs }) =>
    makeBackup({
      database: { size: 0, copyTo: copyForBackup(writableStore.database.place) },
      directory: store.directory,
      file,
      place,
      workspace,
      blobs,
      siteKey: writableStore.siteKey,
      since: await findIncrementBase(place, writableStore.siteKey, madeAt),
      id: writableStore.newId.uuid(),
      now: () => madeAt,
      version: '0',
      evenSo: false,
      needed: () => writableStore.records.neededContents.list('', 1000),
      stillNeeded: (sha3_384) => writableStore.records.neededContents.has(sha3_384),
      auditHead: () => writableStore.records.audit.head(),
      progress: () => undefined,
    }),
  );
  return { file, madeAt, blobs: manifest.blobs.length };
}

/** A full backup and increments every 20 minutes after it, each after a push of ada. */
export async function oldIncrements(
  t: Test,
  made: Saved,
  { first, count, place = folderPlace(newFolder(t)) }: { first: Date; count: number; place?: BackupPlace },
): Promise<{ place: BackupPlace; backups: MadeBackup[] }> {
  const ada = await made.store.as('ada');
  await ada.post('/v1/bin', { name: 'tool' });
  const backups: MadeBackup[] = [];
  for (let nth = 0; nth < count; nth++) {
    await ada.push('bin', 'tool', `content ${String(nth)}`);
    backups.push(await addBackupAt(made, place, after(first, minutes(20) * nth)));
  }
  return { place, backups };
}

/** Reads and verifies the state of a moment with all that it builds on, and returns its file and its number of blobs. */
export async function readState(
  place: BackupPlace,
  siteKey: Buffer,
  moment: Date,
): Promise<Omit<MadeBackup, 'madeAt'>> {
  const { file, bases } = await findState(place, siteKey, moment);
  const open = await openArchives([file, ...bases], place.open);
  try {
    const archives = await readArchives(open, siteKey);
    const { bad, elsewhere } = await checkArchives(archives, () => undefined);
    if (bad.length + elsewhere > 0) throw new Error(`${file}: ${JSON.stringify(bad)}, ${String(elsewhere)} elsewhere`);
    return { file, blobs: archives.manifest.blobs.length };
  } finally {
    await closeArchives(open);
  }
}
