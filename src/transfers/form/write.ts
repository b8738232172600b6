// Writing a part of a transfer: an archive whose every byte follows from the statement, its signatures and the content.
import type { TransferBlob } from '#api/wire.ts';
import { block, padding, tarHeader } from '#files/tar-header.ts';
import type { Member, Transfer } from './members.ts';
import { proven } from './proven.ts';

/** Brings bytes of a blob, `size` of them from `offset` on, one blob at a time; some are good until the next but one are asked for. */
export type Content = (blob: TransferBlob, offset: number, size: number) => AsyncIterable<Uint8Array>;

/** Content is not what the statement says of it: it was changed, or is damaged. */
export class OtherContent extends Error {
  readonly blob: TransferBlob;

  constructor(blob: TransferBlob) {
    super(`the content ${blob['sha3-384']} is not what it was`);
    this.name = 'OtherContent';
    this.blob = blob;
  }
}

/** The bytes of a part, by its members; throws `OtherContent` before the piece that is wrong is all given. */
export async function* bytesOfPart(
  { statement }: Pick<Transfer, 'statement'>,
  members: Iterable<Member>,
  content: Content,
): AsyncGenerator<Uint8Array> {
  const made = new Date(statement.created);
  for (const member of members) {
    yield tarHeader(member.name, member.size, made);
    if (member.bytes !== undefined) yield member.bytes;
    else {
      const { piece } = member;
      const blob = statement.blobs.at(piece.blob)!;
      yield* proven(content(blob, piece.offset, piece.size), piece, () => new OtherContent(blob));
    }
    if (padding(member.size) > 0) yield Buffer.alloc(padding(member.size));
  }
  yield Buffer.alloc(2 * block);
}
