// Stores the bills of materials of content that was stored without them.
import type { BillOfMaterials } from '#domain/vulnerabilities/bill-of-materials.ts';
import { act } from '../act.ts';

interface ReadBills {
  revisions: { packageId: string; revision: number; bill: BillOfMaterials }[];
}

export const storeBills = act<ReadBills, void>({
  name: 'read_bills_of_materials',
  summary: 'Store the bills of materials of revisions that were stored without them.',
  on: 'bills-of-materials',
  object: () => 'bills-of-materials',
  gate: { never: 'they follow from the contents alone' },

  async perform(tx, { revisions }, { note }) {
    for (const { packageId, revision, bill } of revisions)
      await tx.billsOfMaterials.addToRevision(packageId, revision, bill);
    note({ revisions: revisions.length });
  },
});
