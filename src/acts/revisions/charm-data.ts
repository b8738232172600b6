// Reads the data for juju from charms that were stored before larder served juju.
import type { CharmTexts, RevisionDetails } from '#records/revisions/revisions.ts';
import { act } from '../act.ts';

interface ReadCharm {
  packageId: string;
  revision: number;
  texts: CharmTexts;
  /** Undefined if the charm can no longer be read. */
  metadata: RevisionDetails['said'] | undefined;
}

export const storeCharmData = act<ReadCharm, void>({
  name: 'read_charm',
  summary: 'Store the data for juju about a charm that was stored without it.',
  on: 'PACKAGE-ID/REVISION',
  object: ({ packageId, revision }) => `${packageId}/${revision}`,
  gate: { never: 'it follows from the charm alone' },

  async perform(tx, { packageId, revision, texts, metadata }) {
    const stored = await tx.revisions.find(packageId, revision);
    if (stored === undefined) return;
    await tx.revisions.setCharm(packageId, revision, texts, {
      ...stored.details,
      ...(metadata !== undefined && { said: metadata }),
    });
  },
});
