// Copies all blobs of a store to another place. Intact blobs at the new place are not sent again, so an interrupted copy resumes. Nothing
// is removed from the old place.
import { toChunks, withFile, type Blobs } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { listBlobs } from '#blobs/list-blobs.ts';
import { parseBucketAddress, formatBucketAddress } from '#contract/bucket-address.ts';
import type { Config } from '#configuration/config.ts';
import { withBlobs } from './blobs.ts';
import type { StoreHandle } from './store.ts';

export interface BlobsCopyOptions {
  from: Pick<Blobs, 'list' | 'stat' | 'open' | 'quarantined'>;
  to: Pick<Blobs, 'stat' | 'prove' | 'receive' | 'quarantined'>;
  /** The digests that the records need: a listing may be incomplete. */
  needed: AsyncIterable<string> | Iterable<string>;
  digests: DigestPool;
  newId: () => string;
  /** Called with the bytes done and in total. An error that it throws ends the copy. */
  progress: (done: number, total: number) => void;
}

export interface BlobsCopyResult {
  blobs: number;
  bytes: number;
  /** Number of blobs that were already at the new place. */
  alreadyPresent: number;
  /** Number of blobs in quarantine that were copied, and number of unreadable ones, which were not copied. */
  quarantined: number;
  unread: number;
}

/** A blob that cannot be moved because it is corrupt. The message is for a person. */
export class CorruptBlobError extends Error {}

/** Returns where blobs are stored, in words for a person. */
export const nameOfBlobs = ({ s3 }: Config['blobs']): string =>
  s3 === undefined ? 'blobs/' : formatBucketAddress(parseBucketAddress(s3));

/** Copies the blobs of a stopped store to the place in another configuration. */
export const moveBlobs = (
  store: StoreHandle,
  blobs: Config['blobs'],
  progress: BlobsCopyOptions['progress'],
): Promise<BlobsCopyResult> =>
  withBlobs(store, ({ blobs: from, digests }) =>
    withBlobs(
      { ...store, config: { ...store.config, blobs } },
      ({ blobs: to }) => {
        const needed = store.records.neededContents.all();
        return copyBlobs({ from, to, needed, digests, newId: () => store.newId.uuid(), progress });
      },
      { movesIn: true },
    ),
  );

/** Copies blobs, verifies each against its digest on arrival, and checks at the end that all are there. */
export async function copyBlobs({
  from,
  to,
  needed,
  digests,
  newId,
  progress,
}: BlobsCopyOptions): Promise<BlobsCopyResult> {
  const all = new Map<string, number>();
  for await (const { sha3_384, size } of listBlobs(from, needed)) all.set(sha3_384, size);
  const bytes = [...all.values()].reduce((sum, size) => sum + size, 0);
  let [done, alreadyPresent] = [0, 0];
  for (const [sha3_384, size] of all) {
    if ((await to.stat(sha3_384))?.size === size && (await to.prove(sha3_384))) alreadyPresent++;
    else await copyBlob({ from, to, newId }, sha3_384, size);
    progress((done += size), bytes);
  }
  for (const [sha3_384, size] of all) {
    if ((await to.stat(sha3_384))?.size !== size) throw new Error(`the blob ${sha3_384} did not arrive`);
  }
  let [quarantined, unread] = [0, 0];
  for await (const { sha3_384 } of from.quarantined.list()) {
    if (await copyQuarantined({ from, to, digests }, sha3_384)) quarantined++;
    else unread++;
    progress(bytes, bytes);
  }
  return { blobs: all.size, bytes, alreadyPresent, quarantined, unread };
}

/**
 * Copies a blob in quarantine unchanged: it may be inspected later, or put back if only the reading failed. Returns false if the disk
 * cannot read it, which must not keep the store from moving away from that disk.
 */
async function copyQuarantined(
  { from, to, digests }: Pick<BlobsCopyOptions, 'from' | 'to' | 'digests'>,
  sha3_384: string,
): Promise<boolean> {
  const digestOf = async (file: string): Promise<string> => (await digests.ofFile(file, ['sha256'])).sha256;
  return withFile(from.quarantined, sha3_384, async (file) => {
    const digest = await digestOf(file).catch(() => undefined);
    if (digest === undefined) return false;
    await to.quarantined.add(sha3_384, file);
    const copied = await withFile(to.quarantined, sha3_384, digestOf);
    if (copied !== digest) throw new Error(`the blob ${sha3_384}, which is in quarantine, was not copied unchanged`);
    return true;
  });
}

async function copyBlob(
  { from, to, newId }: Pick<BlobsCopyOptions, 'from' | 'to' | 'newId'>,
  sha3_384: string,
  size: number,
): Promise<void> {
  const damaged = (cause?: unknown): CorruptBlobError =>
    new CorruptBlobError(`the blob ${sha3_384} is damaged; 'larder verify' names its package`, { cause });
  const opened = await from.open(sha3_384);
  if (opened === undefined) throw damaged();
  let failed: unknown;
  opened.stream.once('error', (error) => (failed = error));
  const accept = (taken: { sha3_384: string }): void => {
    if (taken.sha3_384 !== sha3_384) throw damaged();
  };
  try {
    await to.receive(toChunks(opened.stream), { id: newId(), limit: size, expected: size, accept });
  } catch (error) {
    throw failed === undefined ? error : damaged(failed);
  } finally {
    opened.stream.destroy();
  }
}
