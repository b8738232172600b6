// Moves corrupt blobs to quarantine, and puts blobs that are intact again back into service.
import type { Acts, Actor } from '#acts/act.ts';
import { returnBlobToService, quarantineBlob } from '#acts/store/integrity.ts';
import type { Blobs, StoredBlob } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import type { StoreRecords } from '#records/index.ts';
import { verifyBlob, type ReadContinuation } from './verify-blob.ts';

/** The actor and the store that it acts on. */
export interface QuarantineContext {
  records: StoreRecords;
  acts: Acts;
  blobs: Blobs;
  actor: Actor;
}

/** Puts a corrupt blob into quarantine and records that. */
export async function quarantine(
  { sha3_384, size }: StoredBlob,
  { acts, blobs, actor }: QuarantineContext,
): Promise<void> {
  await acts.do(quarantineBlob, actor, { sha3_384, size });
  await blobs.quarantine(sha3_384);
}

/** How many blobs in quarantine one run reads again. */
const maxBlobs = 1000;

/**
 * Reads the blobs in quarantine again, and puts back blobs that are intact and still needed. A blob that was uploaded again counts as well.
 * Returns the SHA3-384 of the blobs that are back in service.
 */
export async function restoreIntactBlobs(
  custody: QuarantineContext,
  digests: DigestPool,
  goOn?: ReadContinuation,
): Promise<string[]> {
  const { records, acts, blobs, actor } = custody;
  const mended: string[] = [];
  for (const { sha3_384 } of await records.damagedBlobs.list(maxBlobs)) {
    if (!(await records.neededContents.has(sha3_384))) continue;
    const isThere = (await verifyBlob({ sha3_384 }, blobs, digests, goOn)).verdict === 'good';
    if (!isThere) {
      if ((await verifyBlob({ sha3_384 }, blobs.quarantined, digests, goOn)).verdict !== 'good') continue;
      await blobs.restoreQuarantined(sha3_384);
    }
    await acts.do(returnBlobToService, actor, { sha3_384 });
    mended.push(sha3_384);
  }
  return mended;
}
