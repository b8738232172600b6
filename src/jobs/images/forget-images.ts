// Job that removes unneeded image data: untagged manifests that no resource names, and blobs that belong to no remaining image. The next
// sweep deletes their content unless another record needs it.
//
// A manifest is kept by a tag, by a published or pending resource that names it, by an index that contains it, or by the image it refers
// to. Manifests that nothing keeps are removed after a grace period.
import { itself, type Acts } from '#acts/act.ts';
import { sweepImageBlobs, sweepImages as forget, readImageIndexes } from '#acts/images/unneeded-images.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { after, days, hours, timestamp, type Now } from '#domain/clock.ts';
import type { StoredManifest } from '#records/images/images.ts';
import type { StoreRecords } from '#records/index.ts';
import { readMentions, readContentText } from '#registry/mentions.ts';
import type { BackgroundJob } from '../runner.ts';

/** Grace period of blobs that no manifest names yet. An upload lasts at most six hours. */
const blobGrace = hours(24);
/** Grace period of a manifest, from its push or the loss of its last tag, until a resource must name it. */
const manifestGrace = days(30);

const batchSize = 500;

export const forgetImages = (records: StoreRecords, acts: Acts, blobs: Blobs, now: Now): BackgroundJob => ({
  name: 'forget-images',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = now();
    const unreadable = (await readMentions(records, acts, blobs)) + (await readIndexes());
    const manifests = unreadable === 0 ? await forgetManifests() : 0;
    return { manifests, blobs: await forgetBlobs(), unreadable };

    /** Records the children of indexes that were pushed before the store recorded them. */
    async function readIndexes(): Promise<number> {
      const unread = await records.images.unreadIndexes(batchSize);
      const read: (StoredManifest & { children: string[] })[] = [];
      for (const index of unread) {
        const text = await readContentText(blobs, index.sha3_384);
        if (text === undefined) continue;
        const { manifests } = JSON.parse(text) as { manifests: { digest: string }[] };
        read.push({ ...index, children: manifests.map(({ digest }) => digest.replace(/^sha256:/, '')) });
      }
      if (read.length > 0) await acts.do(readImageIndexes, itself, { read });
      return unread.length - read.length;
    }

    /** Deletes unneeded manifests. Called only when every index has been read: an unread index may still need some of them. */
    async function forgetManifests(): Promise<number> {
      const before = timestamp(after(moment, -manifestGrace));
      if ((await records.images.unwanted(before, 1)).length === 0) return 0;
      return acts.do(forget, itself, { before, maxManifests: batchSize });
    }

    async function forgetBlobs(): Promise<number> {
      const before = timestamp(after(moment, -blobGrace));
      if (!(await records.images.hasLoose(before))) return 0;
      return acts.do(sweepImageBlobs, itself, { before });
    }
  },
});
