// The statement of a transfer as it is read: what grows with the number of packages is made of its text when it is asked for,
// so that a transfer of ten thousand packages takes no more memory than its statement has bytes.
import type { TransferBlob, TransferPackage, TransferPiece, TransferStatement } from '#api/wire.ts';
import type { Sequence } from '#domain/sequence.ts';

export interface Statement extends Omit<TransferStatement, 'packages' | 'blobs' | 'parts'> {
  packages: Sequence<TransferPackage>;
  blobs: Sequence<TransferBlob>;
  parts: readonly Sequence<TransferPiece>[];
}
