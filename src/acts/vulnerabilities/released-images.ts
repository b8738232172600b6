// The images that a release of a charm gives to deployments, with their contents.
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { ChangeRecords, StoreRecords } from '#records/index.ts';
import type { Repository } from '#records/images/images.ts';

type ImageNouns = 'billsOfMaterials' | 'images' | 'resourceImages';
export type ReleasedImageRecords = Pick<StoreRecords, ImageNouns> | Pick<ChangeRecords, ImageNouns>;

/** The image of a resource revision. */
export interface ReleasedImage {
  resource: string;
  revision: number;
  /** Its manifests: several for an index. Without a bill the contents are unknown. */
  manifests: { sha256: string; bill: BillOfMaterials | undefined }[];
  /** Whether the store has the image and will read its contents, or does not know yet which image it is. */
  isUnread: boolean;
}

export type ReleasedResource = { name: string; revision: number | null };

/** The images of stored resource revisions that a release gives. */
export async function storedImages(
  records: ReleasedImageRecords,
  packageId: string,
  released: readonly ReleasedResource[],
): Promise<ReleasedImage[]> {
  if (released.length === 0) return [];
  const isReleased = (image: { resource: string; revision: number }): boolean =>
    released.some(({ name, revision }) => name === image.resource && revision === image.revision);
  const images: ReleasedImage[] = [];
  for (const { resource, revision, manifests, isRead } of await records.resourceImages.ofPackage(packageId)) {
    if (!isReleased({ resource, revision })) continue;
    const contents = await storedManifests(records, { packageId, resource }, manifests);
    images.push({ resource, revision, ...contents, isUnread: contents.isUnread || !isRead });
  }
  return images;
}

/** Whether a manifest is no image that a deployment runs. */
export const isAttestation = ({ bill }: Pick<ReleasedImage['manifests'][number], 'bill'>): boolean =>
  bill?.about !== undefined;

/** Manifests of a repository with their bills. A manifest that it does not have is in another registry, and stays unknown. */
export async function storedManifests(
  { billsOfMaterials, images }: ReleasedImageRecords,
  repository: Repository,
  digests: readonly string[],
): Promise<Pick<ReleasedImage, 'manifests' | 'isUnread'>> {
  const manifests: ReleasedImage['manifests'] = [];
  let isUnread = false;
  for (const sha256 of digests) {
    const bill = await billsOfMaterials.ofManifest(repository, sha256);
    isUnread ||= bill === undefined && (await images.manifest(repository, sha256)) !== undefined;
    if (!isAttestation({ bill })) manifests.push({ sha256, bill });
  }
  return { manifests, isUnread };
}
