// Formats the bill of materials of a revision for the operation and the command.
import { Refusal } from '#domain/refusal.ts';
import { unknownBill } from '#domain/vulnerabilities/bill-of-materials.ts';
import { formatCycloneDx, type BillSubject } from '#domain/vulnerabilities/cyclonedx.ts';
import type { StoreRecords } from '#records/index.ts';
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
  const bill =
    (await billsOfMaterials.ofRevision(id, revision)) ??
    unknownBill('The store has not read it yet. Its job read-bills does that within an hour.');
  const { version, sha256, sha3_384, createdAt, details } = stored;
  const type = namespace === 'rock' ? 'container' : typeOfSnap(details.type);
  const properties = { revision: String(revision) };
  return formatCycloneDx({ name: `${namespace}/${name}`, version, type, sha256, sha3_384, createdAt, properties }, [
    bill,
  ]);
}

const typeOfSnap = (type: RevisionDetails['type']): BillSubject['type'] =>
  type === 'base' || type === 'os'
    ? 'operating-system'
    : type === 'kernel' || type === 'gadget'
      ? 'firmware'
      : 'application';
