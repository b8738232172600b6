// What nobody wants of the images is forgotten: manifests without a name that no resource names, and blobs that became
// part of no image, or of none that is left. Their content goes with the next sweep, unless something else needs it.
//
// A tag keeps what it names, a resource that is published or under review keeps the image that its content names, an index
// keeps its images, and an image whatever is about it. What has none of these waits for its grace to end.
import { itself, type Acts } from '#acts/act.ts';
import { forgetImageBlobs, forgetImages as forget, readImageIndexes } from '#acts/unwanted-images.ts';
import type { Blobs } from '#blobs/blobs.ts';
import { after, days, hours, timestamp, type Now } from '#domain/clock.ts';
import type { StoredManifest } from '#records/images.ts';
import type { Records } from '#records/index.ts';
import { readMentions, textOf } from '#registry/mentions.ts';
import type { Job } from './runner.ts';

/** Blobs wait for the manifest that names them: an upload lasts six hours at most. */
const blobGrace = hours(24);
/** Manifests wait, after they were pushed or lost their last tag, for a resource that names them. */
const manifestGrace = days(30);

const atOnce = 500;

export const forgetImages = (records: Records, acts: Acts, blobs: Blobs, now: Now): Job => ({
  name: 'forget-images',
  inDoubt: 'waits',
  every: hours(1),

  async run() {
    const moment = now();
    const unreadable = (await readMentions(records, acts, blobs)) + (await readIndexes());
    const manifests = unreadable === 0 ? await forgetManifests() : 0;
    return { manifests, blobs: await forgetBlobs(), unreadable };

    /** Learns what the indexes name that came before that was noted. */
    async function readIndexes(): Promise<number> {
      const unread = await records.images.unreadIndexes(atOnce);
      const read: (StoredManifest & { children: string[] })[] = [];
      for (const index of unread) {
        const text = await textOf(blobs, index.sha3_384);
        if (text === undefined) continue;
        const { manifests } = JSON.parse(text) as { manifests: { digest: string }[] };
        read.push({ ...index, children: manifests.map(({ digest }) => digest.replace(/^sha256:/, '')) });
      }
      if (read.length > 0) await acts.do(readImageIndexes, itself, { read });
      return unread.length - read.length;
    }

    /** While anything is unread nothing is forgotten: it might be what keeps the rest. */
    async function forgetManifests(): Promise<number> {
      const before = timestamp(after(moment, -manifestGrace));
      if ((await records.images.unwanted(before, 1)).length === 0) return 0;
      return acts.do(forget, itself, { before, most: atOnce });
    }

    async function forgetBlobs(): Promise<number> {
      const before = timestamp(after(moment, -blobGrace));
      if (!(await records.images.hasLoose(before))) return 0;
      return acts.do(forgetImageBlobs, itself, { before });
    }
  },
});
