// Stores the bills of materials of content that was stored without them.
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import type { StoredManifest } from '#records/images/images.ts';
import { act } from '../act.ts';

/** Bills of materials that a job has read from stored revisions and image manifests. */
export interface ReadBills {
  revisions: { packageId: string; revision: number; bill: BillOfMaterials }[];
  manifests: (Pick<StoredManifest, 'packageId' | 'resource' | 'sha256'> & { bill: BillOfMaterials })[];
}

export const storeBills = act<ReadBills, void>({
  name: 'read_bills_of_materials',
  summary: 'Store the bills of materials of revisions and images that were stored without them.',
  on: 'bills-of-materials',
  object: () => 'bills-of-materials',
  gate: { never: 'they follow from the contents alone' },

  async perform(tx, { revisions, manifests }, { note }) {
    for (const { packageId, revision, bill } of revisions)
      await tx.billsOfMaterials.addToRevision(packageId, revision, bill);
    for (const { bill, sha256, ...repository } of manifests)
      await tx.billsOfMaterials.addToManifest(repository, sha256, bill);
    note({ revisions: revisions.length, images: manifests.length });
  },
});
