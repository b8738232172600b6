// Formats the bills of materials of revisions and images for the operations and the command.
import { Refusal } from '#domain/refusal.ts';
import { unknownBill } from '#domain/vulnerabilities/bill-of-materials.ts';
import { formatCycloneDx, type BillSubject } from '#domain/vulnerabilities/cyclonedx.ts';
import type { StoreRecords } from '#records/index.ts';
import { readDigest } from '#registry/repository.ts';
import type { PublishedPackage } from '#records/packages/packages.ts';
import type { RevisionDetails } from '#records/revisions/revisions.ts';

/** The CycloneDX document of a revision. Refuses an unknown revision. */
export async function formatRevisionSbom(
  { revisions, billsOfMaterials }: Pick<StoreRecords, 'revisions' | 'billsOfMaterials'>,
  { id, namespace, name }: Pick<PublishedPackage, 'id' | 'namespace' | 'name'>,
  revision: number,
): Promise<string> {
  const stored = await revisions.find(id, revision);
  if (stored === undefined) {
    throw new Refusal('resource-not-found', `There is no revision ${String(revision)} of ${namespace}/${name}.`);
  }
  const bill = (await billsOfMaterials.ofRevision(id, revision)) ?? unknownBill(unread);
  const { version, sha256, sha3_384, createdAt, details } = stored;
  const type = namespace === 'rock' ? 'container' : typeOfSnap(details.type);
  const properties = { revision: String(revision) };
  return formatCycloneDx({ name: `${namespace}/${name}`, version, type, sha256, sha3_384, createdAt, properties }, [
    bill,
  ]);
}

/** The CycloneDX document of an image in a repository, with the claims about it. Refuses an unknown image. */
export async function formatImageSbom(
  { images, billsOfMaterials }: Pick<StoreRecords, 'images' | 'billsOfMaterials'>,
  { id: packageId, namespace, name }: Pick<PublishedPackage, 'id' | 'namespace' | 'name'>,
  { resource, digest }: { resource: string; digest: string },
): Promise<string> {
  const repository = { packageId, resource };
  const image = await images.manifest(repository, readDigest(digest)?.digits ?? '');
  if (image === undefined) {
    throw new Refusal('resource-not-found', `There is no image ${digest} of ${namespace}/${name} ${resource}.`);
  }
  const { sha256, sha3_384 } = image;
  const own = (await billsOfMaterials.ofManifest(repository, sha256)) ?? unknownBill(unread);
  return formatCycloneDx(
    {
      name: `${namespace}/${name}/${resource}`,
      version: `sha256:${sha256}`,
      type: 'container',
      sha256,
      sha3_384,
      createdAt: undefined,
      properties: {},
    },
    [own, ...(await billsOfMaterials.claimsAbout(repository, sha256))],
  );
}

const unread = 'The store has not read it yet. Its job read-bills does that within a minute.';

const typeOfSnap = (type: RevisionDetails['type']): BillSubject['type'] =>
  type === 'base' || type === 'os'
    ? 'operating-system'
    : type === 'kernel' || type === 'gadget'
      ? 'firmware'
      : 'application';
