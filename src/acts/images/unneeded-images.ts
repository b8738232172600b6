// Unneeded images: record which images are needed, and remove the others.
import type { StoredManifest } from '#records/images/images.ts';
import { act } from '../act.ts';

const object = (): string => 'images';

export const readImageResources = act({
  name: 'read_image_resources',
  summary: 'Record the images that the files of resources refer to.',
  on: 'images',
  object,
  gate: { never: 'it follows from the contents alone' },

  async perform(tx, { read }: { read: { content: string; manifest: string | null }[] }, { note }): Promise<void> {
    for (const { content, manifest } of read) await tx.images.mention(content, manifest);
    note({ read: read.length });
  },
});

export const readImageIndexes = act({
  name: 'read_image_indexes',
  summary: 'Record the manifests that image indexes refer to.',
  on: 'images',
  object,
  gate: { never: 'it follows from the indexes alone' },

  async perform(tx, { read }: { read: (StoredManifest & { children: string[] })[] }, { note }): Promise<void> {
    for (const { sha256, children, ...repository } of read) await tx.images.addChildren(repository, sha256, children);
    note({ read: read.length });
  },
});

export const sweepImages = act({
  name: 'sweep_images',
  summary: 'Delete old manifests that no tag, resource or index refers to.',
  on: 'images',
  object,
  gate: { never: 'it follows from the time and from the resources' },

  /**
   * Deletes at most `maxManifests` unneeded manifests that were last used before `before`. Deletes none while the store has not read the
   * references of every index and image resource. Returns how many.
   */
  async perform(tx, { before, maxManifests }: { before: string; maxManifests: number }, { note }): Promise<number> {
    const isRead = (await tx.images.unreadContents(1)).length + (await tx.images.unreadIndexes(1)).length === 0;
    const unwanted = isRead ? await tx.images.unwanted(before, maxManifests) : [];
    for (const { sha256, ...repository } of unwanted) await tx.images.removeManifest(repository, sha256);
    note({ manifests: unwanted.map(({ sha256 }) => `sha256:${sha256}`) });
    return unwanted.length;
  },
});

export const sweepImageBlobs = act({
  name: 'sweep_image_blobs',
  summary: 'Delete blobs that are not part of any stored image.',
  on: 'images',
  object,
  gate: { never: 'it follows from the time alone' },

  /** Removes blobs received before `before` that are part of no image. Returns their number. */
  async perform(tx, { before }: { before: string }, { note }): Promise<number> {
    const blobs = await tx.images.forgetLoose(before);
    note({ blobs });
    return blobs;
  },
});
