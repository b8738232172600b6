// Integrity: record corrupt and repaired blobs, and the results of checks of the records.
import { act } from '../act.ts';

interface OfBlob {
  sha3_384: string;
}

const onBlob = 'blob/SHA3-384';
const blobObject = ({ sha3_384 }: OfBlob): string => `blob/${sha3_384}`;

export const quarantineBlob = act({
  name: 'quarantine_blob',
  summary: 'Mark content as corrupt and take it out of service.',
  on: onBlob,
  object: blobObject,
  gate: { never: 'corrupt content must not be served' },

  /** `size` in bytes. */
  async perform(tx, { sha3_384, size }: OfBlob & { size: number }, { at, note }): Promise<void> {
    note({ size });
    await tx.damagedBlobs.add({ sha3_384, size, foundAt: at });
  },
});

export const returnBlobToService = act({
  name: 'restore_blob',
  summary: 'Return content to service that matches its digest again.',
  on: onBlob,
  object: blobObject,
  gate: { never: 'the content matches its digest' },

  async perform(tx, { sha3_384 }: OfBlob): Promise<void> {
    await tx.damagedBlobs.mended(sha3_384);
  },
});

export const markBlobRepaired = act({
  name: 'repair_blob',
  summary: 'Return content to service after the same content was uploaded again.',
  on: onBlob,
  object: blobObject,
  gate: { never: 'the uploaded content matches its digest' },

  async perform(tx, { sha3_384 }: OfBlob): Promise<void> {
    await tx.damagedBlobs.mended(sha3_384);
  },
});

export const restoreMissing = act({
  name: 'restore_missing_blobs',
  summary: 'Restore missing content from a backup.',
  on: 'blobs',
  object: () => 'blobs',
  gate: { never: 'each content was verified against its digest' },

  /** `from` is the backup's id, `blobs` are the digests of the recovered blobs. */
  async perform(tx, { from, blobs }: { from: string; blobs: string[] }, { note }): Promise<void> {
    note({ from, blobs });
    for (const sha3_384 of blobs) await tx.damagedBlobs.mended(sha3_384);
  },
});

/** The result of a check of the records. */
export interface RecordsCheckResult {
  /** RFC 3339. */
  at: string;
  problems: number;
  /** The number of problems that make the database unreliable. Missing in results of the first release. */
  pages?: number;
  rows?: number;
  /** The first problem. */
  first?: string;
}

/** The appliance setting with the last result. */
export const recordsCheckSetting = 'records-proven';

export const recordRecordsCheck = act({
  name: 'verify_records',
  summary: 'Record the result of a check of the records.',
  on: 'records',
  object: () => 'records',
  gate: { never: 'it follows from the records' },

  /** `first` has some of the problems in words. */
  async perform(tx, { result, first }: { result: RecordsCheckResult; first: string[] }, { note }): Promise<void> {
    note({ problems: result.problems, first });
    await tx.appliance.set(recordsCheckSetting, JSON.stringify(result));
  },
});
