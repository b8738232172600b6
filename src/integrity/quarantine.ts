// Moves corrupt blobs to quarantine, and puts blobs that are intact again back into service.
import type { Acts, By } from '#acts/act.ts';
import { putBackBlob, quarantineBlob } from '#acts/integrity.ts';
import type { Blobs, StoredBlob } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import type { Records } from '#records/index.ts';
import { judge, type GoOn } from './judge.ts';

/** The actor and the store that it acts on. */
export interface Custody {
  records: Records;
  acts: Acts;
  blobs: Blobs;
  by: By;
}

/** Puts a corrupt blob into quarantine and records that. */
export async function quarantine({ sha3_384, size }: StoredBlob, { acts, blobs, by }: Custody): Promise<void> {
  await acts.do(quarantineBlob, by, { sha3_384, size });
  await blobs.quarantine(sha3_384);
}

/** How many blobs in quarantine one run reads again. */
const atOnce = 1000;

/**
 * Reads the blobs in quarantine again, and puts back blobs that are intact and still needed. A blob that was uploaded again counts as well.
 * Returns the SHA3-384 of the blobs that are back in service.
 */
export async function putBackGood(custody: Custody, digests: DigestPool, goOn?: GoOn): Promise<string[]> {
  const { records, acts, blobs, by } = custody;
  const mended: string[] = [];
  for (const { sha3_384 } of await records.damagedBlobs.list(atOnce)) {
    if (!(await records.neededContents.has(sha3_384))) continue;
    const isThere = (await judge({ sha3_384 }, blobs, digests, goOn)).verdict === 'good';
    if (!isThere) {
      if ((await judge({ sha3_384 }, blobs.quarantined, digests, goOn)).verdict !== 'good') continue;
      await blobs.putBack(sha3_384);
    }
    await acts.do(putBackBlob, by, { sha3_384 });
    mended.push(sha3_384);
  }
  return mended;
}
