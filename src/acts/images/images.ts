// Images: push and delete the blobs, manifests and tags of a repository.
import type { Quota } from '#domain/accounts/quota.ts';
import { Refusal } from '#domain/refusal.ts';
import type { ImageCredential } from '#records/images/image-credentials.ts';
import type { ImageBlob, ImageManifest, ImageReferences, Repository } from '#records/images/images.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import { act, DoneAlready } from '../act.ts';
import { refuseBytesBeyond } from '../accounts/quotas.ts';

/** The repository of a request, which is the repository of the credentials. */
interface ImageTarget {
  credential: ImageCredential;
}

interface ImagePush extends ImageTarget {
  /** The quota of publishers without a quota of their own. */
  defaultQuota: Quota;
}

/** Content that a manifest names. */
export interface ReferencedContent {
  /** The digest as the manifest states it. */
  digest: string;
  /** The hexadecimal digits of its sha256 or sha512; undefined for another algorithm. */
  digits: string | undefined;
  /** Size in bytes, as the manifest states it. */
  size: number;
  /** Whether it may be missing here because clients fetch it from another registry. */
  mayBeElsewhere: boolean;
}

/** The contents that a manifest names. */
export interface ReferencedContents {
  /** The blobs of an image. */
  parts: ReferencedContent[];
  /** The manifests of an index; undefined if the manifest is not an index. */
  children: ReferencedContent[] | undefined;
}

export interface ManifestPush extends ImagePush, ReferencedContents {
  manifest: ImageManifest;
  /** The digest under which it was pushed, as clients write it. */
  digest: string;
  tag: string | undefined;
  /** Set if the manifest refers to another manifest as its subject. `subject` is the hexadecimal digest of the other one. */
  about: ImageReferences['about'];
}

const object = ({ credential: { namespace, name } }: ImageTarget): string => `${namespace}/${name}`;

const unreleased = { never: 'devices get it only after a resource that names it is released' };

export const pushImageBlob = act({
  name: 'push_image_blob',
  summary: 'Store a blob of an image in a repository.',
  on: 'NAMESPACE/NAME',
  object,
  gate: unreleased,

  async perform(tx, { credential, blob, defaultQuota }: ImagePush & { blob: ImageBlob }, { at, note }): Promise<void> {
    const { resource, id: credentials } = credential;
    note({ resource, digest: `sha256:${blob.sha256}`, size: blob.size, credentials });
    await refuseBeyondQuota(tx, { credential, defaultQuota, content: blob });
    await tx.images.addBlob(credential, blob, at);
    await tx.damagedBlobs.mended(blob.sha3_384);
  },
});

export const pushImageManifest = act({
  name: 'push_image_manifest',
  summary:
    'Store the manifest of an image or an index under a tag or its digest; all of its parts must be stored already.',
  on: 'NAMESPACE/NAME',
  object,
  gate: unreleased,

  async perform(tx, pushed: ManifestPush, { at, note }): Promise<void> {
    const { credential: repository, defaultQuota, manifest, digest, tag, about } = pushed;
    note({ resource: repository.resource, digest, tag, credentials: repository.id });
    const { parts, children } = await requireManifestContents(tx, repository, pushed);
    await refuseBeyondQuota(tx, { credential: repository, defaultQuota, content: manifest });
    // A manifest in this store is recorded by its sha256, another by the digest that names it.
    const storedSubject = about && (await tx.images.manifest(repository, about.subject))?.sha256;
    const references = { parts, children, about: about && { ...about, subject: storedSubject ?? about.subject } };
    await tx.images.addManifest(repository, manifest, references, at);
    await tx.damagedBlobs.mended(manifest.sha3_384);
    if (tag !== undefined) await tx.images.tag(repository, tag, manifest.sha256, at);
  },
});

/** The quota of the package's publisher applies, whichever account pushes. */
async function refuseBeyondQuota(
  tx: ChangeRecords,
  { credential, defaultQuota, content }: ImagePush & { content: Pick<ImageBlob, 'sha3_384' | 'size'> },
): Promise<void> {
  const subject = await tx.packages.byId(credential.packageId);
  if (subject === undefined) throw new Refusal('name-unknown', 'The package is gone.');
  const { sha3_384, size } = content;
  await refuseBytesBeyond(tx, { publisherId: subject.publisherId, defaultQuota, sha3_384, size });
}

export const pushExternalImage = act({
  name: 'push_external_image',
  summary: 'Record that another registry has an image, as it reported.',
  on: 'NAMESPACE/NAME',
  object,
  gate: unreleased,

  async perform(
    tx,
    { credential, registry, sha256 }: ImageTarget & { registry: string; sha256: string },
    { at, note },
  ): Promise<void> {
    const { resource, id: credentials } = credential;
    note({ resource, digest: `sha256:${sha256}`, registry, credentials });
    await tx.externalImages.add(credential, { registry, sha256, at });
  },
});

export const deleteImageTag = act({
  name: 'delete_image_tag',
  summary: 'Remove a tag of an image.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'the image itself stays, and a push tags it again' },

  async perform(tx, { credential, tag }: ImageTarget & { tag: string }, { at, note }): Promise<void> {
    const { resource, id: credentials } = credential;
    const tagged = await tx.images.tagged(credential, tag);
    if (tagged === undefined) throw new Refusal('manifest-unknown', 'The repository has no manifest of this tag.');
    note({ resource, credentials, digest: `sha256:${tagged.sha256}`, tag });
    await tx.images.untag(credential, tag, at);
  },
});

export const deleteImageManifest = act({
  name: 'delete_image_manifest',
  summary: 'Delete a manifest with all its tags, unless a resource or an index needs it.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'manifests that a resource or a channel needs stay' },

  async perform(tx, { credential, sha256 }: ImageTarget & { sha256: string }, { note }): Promise<void> {
    const { resource, id: credentials } = credential;
    note({ resource, credentials, digest: `sha256:${sha256}` });
    if ((await tx.images.unreadContents(1)).length > 0) throw unreadResourcesRefusal();
    if (await tx.images.isNamed(credential, sha256)) {
      throw needed('A revision of the resource names this image, so the image stays as long as that revision.');
    }
    const index = await tx.images.indexOf(credential, sha256);
    if (index !== undefined)
      throw needed(`The index sha256:${index.sha256} names this manifest. Delete that one first.`);
    await tx.images.removeManifest(credential, sha256);
  },
});

export const deleteImageBlob = act({
  name: 'delete_image_blob',
  summary: 'Delete a blob that is not part of an image.',
  on: 'NAMESPACE/NAME',
  object,
  gate: { never: 'the blob is not part of an image' },

  async perform(tx, { credential, sha256 }: ImageTarget & { sha256: string }, { note }): Promise<void> {
    const { resource, id: credentials } = credential;
    note({ resource, credentials, digest: `sha256:${sha256}` });
    const image = await tx.images.imageOf(credential, sha256);
    if (image !== undefined) throw needed(`The image sha256:${image.sha256} uses this blob. Delete the image first.`);
    if ((await tx.images.removeBlob(credential, sha256)) === 0) throw new DoneAlready(undefined);
  },
});

/** Refuses to delete an image while the contents of some resources could not be read. */
export const unreadResourcesRefusal = (): Refusal =>
  needed('The store cannot tell at the moment which images the resources name, so it deletes none. Try again later.');

/** The specification's error for a refused deletion. */
const needed = (reason: string): Refusal =>
  new Refusal('method-not-allowed', reason, undefined, { allow: 'GET, HEAD, PUT' });

/**
 * Refuses a manifest if the repository lacks content that it names, or has it in another size. Returns the sha256 of
 * all named content that is here.
 */
export async function requireManifestContents(
  { images }: Pick<ChangeRecords, 'images'> | Pick<StoreRecords, 'images'>,
  repository: Repository,
  { parts, children }: ReferencedContents,
): Promise<{ parts: string[]; children: string[] | undefined }> {
  const findContents = async (
    contents: ReferencedContent[],
    look: typeof images.blobs,
    kind: string,
  ): Promise<string[]> => {
    if (contents.length === 0) return [];
    const digests = new Set(contents.flatMap(({ digits }) => digits ?? []));
    const stored = new Map<string | undefined, ImageBlob>();
    for (const blob of await look(repository, [...digests])) {
      stored.set(blob.sha256, blob);
      if (blob.sha512 !== null) stored.set(blob.sha512, blob);
    }
    return contents.flatMap((content) => checkContent(content, stored.get(content.digits), kind));
  };
  return {
    parts: await findContents(parts, images.blobs, 'blob'),
    children: children && (await findContents(children, images.manifests, 'manifest')),
  };
}

/** The sha256 of named content in this store; empty if it may be in another registry. */
function checkContent(
  { digest, size, mayBeElsewhere }: ReferencedContent,
  stored: ImageBlob | undefined,
  kind: string,
): string[] {
  if (stored === undefined) {
    if (mayBeElsewhere) return [];
    throw new Refusal(
      'manifest-blob-unknown',
      `The repository has no ${kind} ${digest.slice(0, 140)}. Send it before the manifest that names it.`,
    );
  }
  if (stored.size === size) return [stored.sha256];
  throw new Refusal('manifest-invalid', `The ${kind} ${digest.slice(0, 140)} has ${stored.size} bytes, not ${size}.`);
}
