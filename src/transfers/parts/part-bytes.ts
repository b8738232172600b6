// Writes a part of a transfer. Every byte follows from the statement, its signatures and the content.
import type { TransferBlob } from '#contract/wire.ts';
import { block, padding, tarHeader } from '#files/tar-header.ts';
import type { Member, Transfer } from './members.ts';
import { verifyBytes } from './verify-bytes.ts';

/** Reads `size` bytes of a blob from `offset`, one blob at a time. A chunk is valid until the second-next chunk is requested. */
export type TransferContentReader = (blob: TransferBlob, offset: number, size: number) => AsyncIterable<Uint8Array>;

/** Thrown if content does not match its statement, because it was changed or is corrupt. */
export class ContentMismatch extends Error {
  readonly blob: TransferBlob;

  constructor(blob: TransferBlob) {
    super(`the content ${blob['sha3-384']} does not match its digest`);
    this.name = 'OtherContent';
    this.blob = blob;
  }
}

/** Yields the bytes of a part. Throws `OtherContent` before the end of an incorrect piece. */
export async function* generatePartBytes(
  { statement }: Pick<Transfer, 'statement'>,
  members: Iterable<Member>,
  content: TransferContentReader,
): AsyncGenerator<Uint8Array> {
  const made = new Date(statement.created);
  for (const member of members) {
    yield tarHeader(member.name, member.size, made);
    if (member.bytes !== undefined) yield member.bytes;
    else {
      const { piece } = member;
      const blob = statement.blobs.at(piece.blob)!;
      yield* verifyBytes(content(blob, piece.offset, piece.size), piece, () => new ContentMismatch(blob));
    }
    if (padding(member.size) > 0) yield Buffer.alloc(padding(member.size));
  }
  yield Buffer.alloc(2 * block);
}
