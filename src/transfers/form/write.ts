// Writing a part of a transfer: an archive whose every byte follows from the statement, its signatures and the content.
import { createHash } from 'node:crypto';

import type { TransferBlob, TransferPiece } from '#api/wire.ts';
import { block, padding, tarHeader } from '#files/tar-header.ts';
import { Contained } from './artifacts.ts';
import { membersOf, type Transfer } from './members.ts';

/** Brings bytes of a blob: `size` of them from `offset` on. */
export type Content = (blob: TransferBlob, offset: number, size: number) => AsyncIterable<Uint8Array>;

/** Content is not what the statement says of it: it was changed, or is damaged. */
export class OtherContent extends Error {
  constructor(blob: TransferBlob) {
    super(`the content ${blob['sha3-384']} is not what it was`);
    this.name = 'OtherContent';
  }
}

/** The bytes of a part; throws `OtherContent` before the piece that is wrong is all given. */
export async function* bytesOfPart(transfer: Transfer, part: number, content: Content): AsyncGenerator<Uint8Array> {
  const { statement } = transfer;
  const made = new Date(statement.created);
  for (const member of membersOf(transfer, part, new Contained(statement))) {
    yield tarHeader(member.name, member.size, made);
    if (member.bytes !== undefined) yield member.bytes;
    else yield* proven(member.piece, statement.blobs[member.piece.blob]!, content);
    if (padding(member.size) > 0) yield Buffer.alloc(padding(member.size));
  }
  yield Buffer.alloc(2 * block);
}

/** The last bytes are given when all of them are right. */
async function* proven(piece: TransferPiece, blob: TransferBlob, content: Content): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256');
  let held: Uint8Array | undefined;
  let length = 0;
  for await (const bytes of content(blob, piece.offset, piece.size)) {
    if (held !== undefined) yield held;
    digest.update(bytes);
    length += bytes.length;
    held = bytes;
  }
  if (length !== piece.size || digest.digest('hex') !== piece.sha256) throw new OtherContent(blob);
  if (held !== undefined) yield held;
}
