// larder restore --missing: fetches the missing blobs of a store from a backup, also while it serves.
import { formatCount } from '#domain/quantities.ts';
import { resolve } from 'node:path';
import { restoreMissing as restoreMissingBlobs } from '#acts/store/integrity.ts';
import { closeArchives, readArchives, type Archives, type OpenArchive } from '#backup/archives.ts';
import { readVerified } from '#backup/restore.ts';
import { toChunks, type Blobs } from '#blobs/blobs.ts';
import { missingContents } from '#integrity/verify.ts';
import { withBlobs } from '#data/blobs.ts';
import { nameOf, openBackupArchives, toArchiveFailure } from './messages.ts';
import type { CommandResult, CommandCall } from '../frame/command.ts';
import { createProgress, type ProgressReporter } from '../frame/progress.ts';
import { withStore, type OpenStore } from '../frame/store.ts';
import { maxListed, otherItems } from '../frame/terminal.ts';

interface FetchedBlobs {
  /** The restored contents, and the contents that no archive has. */
  back: string[];
  lacking: string[];
}

export async function restoreMissing(
  call: Pick<CommandCall, 'data' | 'json' | 'quiet' | 'world'>,
  files: readonly string[],
): Promise<CommandResult> {
  // Open the archives before root's rights are dropped: the owner of the store may not be able to read the medium.
  const open = await openBackupArchives(files.map((file) => resolve(file)));
  const progress = createProgress(call);
  try {
    return await withStore(call, async (store) => {
      const archives = await archivesOf(open, store.siteKey);
      // Accept a bucket without the store's marker: it may have been emptied.
      const openOptions = { movesIn: true };
      const fetched = await withBlobs(store, ({ blobs }) => fetchAll(store, archives, blobs, progress), openOptions);
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
    throw toArchiveFailure(error, open[0]!.file);
  }
}

async function fetchAll(
  store: OpenStore,
  archives: Archives,
  blobs: Blobs,
  progress: ProgressReporter,
): Promise<FetchedBlobs> {
  const missing = await missingContents(store.records, blobs);
  const listed = new Map(archives.manifest.blobs.map((blob) => [blob.sha3_384, blob]));
  const fetched: FetchedBlobs = { back: [], lacking: [] };
  for (const [index, sha3_384] of missing.entries()) {
    progress.at('fetching back', index, missing.length);
    const blob = listed.get(sha3_384);
    const location = blob && archives.find(blob);
    if (location === undefined) {
      fetched.lacking.push(sha3_384);
      continue;
    }
    const bytes = readVerified({ ...location, file: archives.file, algorithm: 'sha3-384', digest: sha3_384 });
    try {
      await blobs.receive(toChunks(bytes), { id: store.newId.uuid(), limit: blob!.size, expected: blob!.size });
    } catch (error) {
      throw toArchiveFailure(error, archives.file);
    }
    fetched.back.push(sha3_384);
  }
  const back = { from: archives.manifest.id, blobs: fetched.back };
  if (back.blobs.length > 0) await store.acts.do(restoreMissingBlobs, store.person, back);
  return fetched;
}

async function answered(
  { records }: OpenStore,
  { file }: Archives,
  { back, lacking }: FetchedBlobs,
): Promise<CommandResult> {
  const listNames = async (contents: readonly string[]): Promise<string[]> => {
    const lines: string[] = [];
    for (const sha3_384 of contents.slice(0, maxListed)) lines.push(`  ${await nameOf(records, sha3_384)}`);
    return [...lines, ...otherItems(contents.length)];
  };
  if (back.length + lacking.length === 0) return { text: 'Nothing is missing.', json: { back, lacking } };
  const text = [
    back.length === 0
      ? `No missing blob is in ${file}.`
      : `${formatCount(back.length, 'blob is', 'blobs are')} restored, each verified against its digest:`,
    ...(await listNames(back)),
    ...(lacking.length === 0
      ? []
      : [
          `${formatCount(lacking.length, 'is', 'are')} still missing; look in another backup, or upload the same files again:`,
        ]),
    ...(await listNames(lacking)),
  ];
  return { text: text.join('\n'), json: { back, lacking }, exitCode: lacking.length === 0 ? 0 : 1 };
}
