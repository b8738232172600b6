// Container images of packages in transfers.
import type { TransferPackage } from '#contract/wire.ts';
import { formatCount } from '#domain/quantities.ts';
import { imageContentsSubject, parseFindings, subjectOf } from '../findings.ts';
import type { PackagePlanning } from '../package-planning.ts';
import type { PlanRecords } from '../plan-types.ts';
import type { ContentKind } from './content-kind.ts';

type SentImage = TransferPackage['images'][number];

export const imageContent: ContentKind = {
  /** Adds the images that are not here yet under the given tags. */
  async plan(planning) {
    const { records, carried, plan } = planning;
    for (const image of carried.images) {
      if ((await holdsImage(records, carried.id, image)) || !(await isUsable(planning, image))) continue;
      plan.images.push(image);
      const tags = image.manifests.flatMap((manifest) =>
        manifest.tags.map((tag) => `${tag} at sha256:${manifest.content.sha256}`),
      );
      const count = `${formatCount(image.manifests.length, 'manifest')}, ${formatCount(image.blobs.length, 'blob')}`;
      planning.line({ kind: 'image', what: image.resource, from: null, to: [count, ...tags].join('; ') });
    }
  },

  async accept({ tx, doing, plan, subject, finding, findings }) {
    const { images } = tx;
    for (const { resource, manifests, blobs } of plan.images) {
      const repository = { packageId: subject.id, resource };
      for (const { sha256, 'sha3-384': sha3_384, size } of blobs)
        await images.addBlob(repository, { sha256, sha512: null, sha3_384, size }, doing.at);
      for (const { content, 'media-type': mediaType, tags } of manifests) {
        const { sha256, 'sha3-384': sha3_384, size } = content;
        const references = await findings('manifest', subjectOf(subject.id, resource, sha256));
        const manifest = { sha256, sha512: null, sha3_384, size, mediaType };
        await images.addManifest(repository, manifest, references, doing.at);
        const contents = await finding(imageContentsSubject(subject.id, resource, sha256));
        const bill = parseFindings('image-contents', contents)?.bill;
        if (bill !== undefined) await tx.billsOfMaterials.addToManifest(repository, sha256, bill);
        for (const tag of tags) await images.tag(repository, tag, sha256, doing.at);
      }
    }
  },
};

/** Whether the repository already holds the manifests of an image under the given tags. */
async function holdsImage(
  { images }: PlanRecords,
  packageId: string,
  { resource, manifests }: SentImage,
): Promise<boolean> {
  const repository = { packageId, resource };
  const digests = manifests.map(({ content }) => content.sha256);
  const held = new Set((await images.manifests(repository, digests)).map(({ sha256 }) => sha256));
  if (!digests.every((digest) => held.has(digest))) return false;
  const storedTags = await images.tagsOf(repository, digests);
  return manifests.every(({ content, tags }) =>
    tags.every((tag) => storedTags.some((stored) => stored.tag === tag && stored.manifest === content.sha256)),
  );
}

/** Whether all contents of an image are usable; reports a problem for each that is not. */
async function isUsable(planning: PackagePlanning, { resource, manifests, blobs }: SentImage): Promise<boolean> {
  let isWhole = true;
  for (const { content } of manifests) {
    const item = `image ${resource}@sha256:${content.sha256}`;
    const subject = subjectOf(planning.carried.id, resource, content.sha256);
    isWhole =
      (await planning.hasContent(item, content['sha3-384'])) && (await planning.passesReview(subject, item)) && isWhole;
  }
  for (const blob of blobs) isWhole = (await planning.hasContent(`image ${resource}`, blob['sha3-384'])) && isWhole;
  return isWhole;
}
