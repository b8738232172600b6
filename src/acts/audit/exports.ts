// Exports: files that left the host, with the actor, digest and size.
import { computeDigest } from '#domain/cryptography.ts';
import type { ChangeRecords } from '#records/index.ts';
import type { Export } from '#records/store/exports.ts';
import { act, type ActContext } from '../act.ts';

/** Records, within another act, that a file leaves the host. */
export const recordExport = async (
  tx: Pick<ChangeRecords, 'exports'>,
  file: Pick<Export, 'what' | 'name' | 'sha256' | 'bytes'> & Partial<Pick<Export, 'label' | 'media'>>,
  { at, actor }: ActContext,
): Promise<void> => {
  await tx.exports.add({ label: null, media: null, ...file, at, actor });
};

/** The digest and size of a text. */
export const measureText = (text: string): Pick<Export, 'sha256' | 'bytes'> => ({
  sha256: computeDigest('audit chain', text),
  bytes: Buffer.byteLength(text),
});

export const exportAudit = act({
  name: 'export_audit_log',
  summary: 'Write entries of the audit log to a file.',
  on: 'audit',
  object: () => 'audit',
  gate: { never: 'the caller can read the data directory anyway' },

  /** The range of the entries, and the digest and size of the file. */
  async perform(
    tx,
    { first, last, entries, sha256, bytes }: Pick<Export, 'sha256' | 'bytes'> & AuditExportRange,
    doing,
  ) {
    doing.note({ first, last, entries, sha256, bytes });
    await recordExport(tx, { what: 'audit log', name: `${String(first)} to ${String(last)}`, sha256, bytes }, doing);
  },
});

interface AuditExportRange {
  first: number;
  last: number;
  entries: number;
}
