// Exports: files that left the host, with the actor, digest and size.
import { hash } from 'node:crypto';

import type { Changes } from '#records/index.ts';
import type { Export } from '#records/exports.ts';
import { act, type Doing } from './act.ts';

/** Records, within another act, that a file leaves the host. */
export const leaves = async (
  tx: Pick<Changes, 'exports'>,
  what: Pick<Export, 'what' | 'name' | 'sha256' | 'bytes'> & Partial<Pick<Export, 'label' | 'media'>>,
  { at, actor }: Doing,
): Promise<void> => {
  await tx.exports.add({ label: null, media: null, ...what, at, actor });
};

/** The digest and size of a text. */
export const measured = (text: string): Pick<Export, 'sha256' | 'bytes'> => ({
  sha256: hash('sha256', text),
  bytes: Buffer.byteLength(text),
});

export const exportAudit = act({
  name: 'audit export',
  summary: 'Write entries of the audit log to a file.',
  on: 'audit',
  object: () => 'audit',
  gate: { never: 'whoever may read the data directory can copy it anyway' },

  /** The range of the entries, and the digest and size of the file. */
  async perform(tx, { first, last, entries, sha256, bytes }: Pick<Export, 'sha256' | 'bytes'> & Reach, doing) {
    doing.note({ first, last, entries, sha256, bytes });
    await leaves(tx, { what: 'audit log', name: `${String(first)} to ${String(last)}`, sha256, bytes }, doing);
  },
});

interface Reach {
  first: number;
  last: number;
  entries: number;
}
