// larder restore --missing: fetches the missing blobs of a store from a backup, also while it serves.
import { counted } from '#domain/quantities.ts';
import { resolve } from 'node:path';
import { restoreMissing as restoreMissingBlobs } from '#acts/integrity.ts';
import { closeArchives, readArchives, type Archives, type OpenArchive } from '#backup/archives.ts';
import { proven } from '#backup/restore.ts';
import { oneByOne, type Blobs } from '#blobs/blobs.ts';
import { missingContents } from '#integrity/verify.ts';
import { withBlobs } from '#data/blobs.ts';
import { nameOf, openedArchives, unusable } from './words.ts';
import type { Answer, Call } from '../frame/command.ts';
import { progressOf, type Progress } from '../frame/progress.ts';
import { withStore, type OpenStore } from '../frame/store.ts';

const shown = 20;

interface Fetched {
  /** The restored contents, and the contents that no archive has. */
  back: string[];
  lacking: string[];
}

export async function restoreMissing(
  call: Pick<Call, 'data' | 'json' | 'quiet' | 'world'>,
  files: readonly string[],
): Promise<Answer> {
  // Open the archives before root's rights are dropped: the owner of the store may not be able to read the medium.
  const open = await openedArchives(files.map((file) => resolve(file)));
  const progress = progressOf(call);
  try {
    return await withStore(call, async (store) => {
      const archives = await archivesOf(open, store.siteKey);
      // Accept a bucket without the store's marker: it may have been emptied.
      const here = { movesIn: true };
      const fetched = await withBlobs(store, ({ blobs }) => fetchAll(store, archives, blobs, progress), here);
      progress.end();
      return answered(store, archives, fetched);
    });
  } finally {
    progress.end();
    await closeArchives(open);
  }
}

async function archivesOf(open: readonly OpenArchive[], siteKey: Buffer): Promise<Archives> {
  try {
    return await readArchives(open, siteKey);
  } catch (error) {
    throw unusable(error, open[0]!.file);
  }
}

async function fetchAll(store: OpenStore, archives: Archives, blobs: Blobs, progress: Progress): Promise<Fetched> {
  const missing = await missingContents(store.records, blobs);
  const listed = new Map(archives.manifest.blobs.map((blob) => [blob.sha3_384, blob]));
  const fetched: Fetched = { back: [], lacking: [] };
  for (const [index, sha3_384] of missing.entries()) {
    progress.at('fetching back', index, missing.length);
    const blob = listed.get(sha3_384);
    const found = blob && archives.find(blob);
    if (found === undefined) {
      fetched.lacking.push(sha3_384);
      continue;
    }
    const bytes = proven({ ...found, file: archives.file, algorithm: 'sha3-384', digest: sha3_384 });
    try {
      await blobs.receive(oneByOne(bytes), { id: store.newId.uuid(), limit: blob!.size, expected: blob!.size });
    } catch (error) {
      throw unusable(error, archives.file);
    }
    fetched.back.push(sha3_384);
  }
  const back = { from: archives.manifest.id, blobs: fetched.back };
  if (back.blobs.length > 0) await store.acts.do(restoreMissingBlobs, store.person, back);
  return fetched;
}

async function answered({ records }: OpenStore, { file }: Archives, { back, lacking }: Fetched): Promise<Answer> {
  const named = async (contents: readonly string[]): Promise<string[]> => {
    const lines: string[] = [];
    for (const sha3_384 of contents.slice(0, shown)) lines.push(`  ${await nameOf(records, sha3_384)}`);
    if (contents.length > shown) lines.push(`  and ${String(contents.length - shown)} more; --json lists them all`);
    return lines;
  };
  if (back.length + lacking.length === 0) return { text: 'Nothing is missing.', json: { back, lacking } };
  const text = [
    back.length === 0
      ? `Nothing of what is missing is in ${file}.`
      : `${counted(back.length, 'blob is', 'blobs are')} back, each verified against its digest:`,
    ...(await named(back)),
    ...(lacking.length === 0
      ? []
      : [
          `${counted(lacking.length, 'is', 'are')} still missing; look in another backup, or upload the same files again:`,
        ]),
    ...(await named(lacking)),
  ];
  return { text: text.join('\n'), json: { back, lacking }, exitCode: lacking.length === 0 ? 0 : 1 };
}
