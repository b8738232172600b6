// What stands in a part of a transfer, member by member: all of it follows from the statement and its signatures, so that
// whoever reads a part knows each of its bytes but those of the content before he reads them.
import type { TransferPiece, TransferStatement } from '#api/wire.ts';
import { block, padding } from '#files/tar-header.ts';
import type { Contained } from './artifacts.ts';
import { layoutFile } from './artifacts.ts';
import { canonical } from './canonical.ts';

/** A member of the archive: bytes that are known, or a piece of a blob. */
export type Member = { name: string; size: number } & (
  { bytes: Uint8Array; piece?: never } | { piece: TransferPiece; bytes?: never }
);

export const statementName = 'larder/statement.json';
export const signaturesName = 'larder/signatures.json';
export const partName = 'larder/part.json';

export interface Transfer {
  /** Its bytes, and what they say. */
  bytes: Uint8Array;
  statement: TransferStatement;
  signatures: Uint8Array;
}

/** The members of a part in their order; `part` is its number, from 1 on. */
export function membersOf({ bytes, statement, signatures }: Transfer, part: number, contained: Contained): Member[] {
  const pieces = statement.parts[part - 1] ?? [];
  const begun = pieces.filter(({ offset }) => offset === 0).map(({ blob }) => statement.blobs[blob]!.sha256);
  const { index, documents } = contained.layoutOf(begun);
  const known: [string, Uint8Array][] = [
    [statementName, bytes],
    [signaturesName, signatures],
    [partName, Buffer.from(canonical({ part }))],
    ['oci-layout', layoutFile],
    ['index.json', index],
    ...documents.map((one): [string, Uint8Array] => [`blobs/sha256/${one.sha256}`, one.bytes]),
  ];
  return [
    ...known.map(([name, content]) => ({ name, size: content.length, bytes: content })),
    ...pieces.map((piece) => ({ name: nameOf(piece, statement), size: piece.size, piece })),
  ];
}

/** A blob that lies in one part as a whole has its place in the layout; a piece of one has not. */
function nameOf({ blob, offset, size }: TransferPiece, { blobs }: TransferStatement): string {
  const of = blobs[blob]!;
  return size === of.size ? `blobs/sha256/${of.sha256}` : `larder/pieces/${of.sha256}/${String(offset)}`;
}

/** How long the archive is that holds these members. */
export const sizeOf = (members: readonly Member[]): number =>
  members.reduce((sum, { size }) => sum + block + size + padding(size), 2 * block);
