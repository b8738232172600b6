// What is damaged is taken out of service; what is found good again in quarantine is put back.
import type { Acts, By } from '#acts/act.ts';
import { putBackBlob, quarantineBlob } from '#acts/integrity.ts';
import type { Blobs, StoredBlob } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import type { Records } from '#records/index.ts';
import { judge, type GoOn } from './judge.ts';

/** Who acts, and on what. */
export interface Custody {
  records: Records;
  acts: Acts;
  blobs: Blobs;
  by: By;
}

/** Takes a damaged blob out of service, and says so in the records. */
export async function quarantine({ sha3_384, size }: StoredBlob, { acts, blobs, by }: Custody): Promise<void> {
  await acts.do(quarantineBlob, by, { sha3_384, size });
  await blobs.quarantine(sha3_384);
}

/** So many damaged blobs are looked at again in one go. */
const atOnce = 1000;

/**
 * Reads again what the records call damaged, and puts back what hashes well and is still needed; the sha3-384 of what is in
 * service again. What came in anew in the meantime counts too.
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
