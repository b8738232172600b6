// Lists the archive members of a part. All bytes except the content follow from the statement and its signatures, so a reader can verify
// every other byte.
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import type { TransferPiece } from '#contract/wire.ts';
import type { Sequence } from '#domain/sequence.ts';
import { block, padding } from '#files/tar-header.ts';
import type { StatementFileIndex } from './artifacts.ts';
import { layoutFile } from './artifacts.ts';
import { toCanonicalText } from '#domain/canonical-json.ts';

/** A member of the archive: known bytes, or a piece of a blob. */
export type Member = { name: string; size: number } & (
  { bytes: Uint8Array; piece?: never } | { piece: TransferPiece; bytes?: never }
);

export const statementName = 'larder/statement.json';
export const signaturesName = 'larder/signatures.json';
export const partName = 'larder/part.json';

/** Whether a file that begins with these bytes can be a part of a transfer. Needs as many bytes as `startLength`. */
export const isPartStart = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 0, startLength) === `${statementName}\0`;
export const startLength = statementName.length + 1;

export interface Transfer {
  /** The bytes of the statement, and their parsed form. */
  bytes: Uint8Array;
  statement: LazyTransferStatement;
  signatures: Uint8Array;
}

/** The members of a part in order, generated again on each iteration. */
export interface PartMembers extends Iterable<Member> {
  /** Length of the archive in bytes. */
  size: number;
}

/** Returns the members of a part; `part` counts from 1. */
export function membersOf(
  { bytes, statement, signatures }: Transfer,
  part: number,
  contained: StatementFileIndex,
): PartMembers {
  const pieces = statement.parts[part - 1] ?? noPieces;
  const begun = [...pieces.values().filter(({ offset }) => offset === 0)].map(
    ({ blob }) => statement.blobs.at(blob)!.sha256,
  );
  const { index, documents, sizes } = contained.layoutOf(begun);
  const createMember = (name: string, content: Uint8Array): Member => ({ name, size: content.length, bytes: content });
  const first = [
    createMember(statementName, bytes),
    createMember(signaturesName, signatures),
    createMember(partName, Buffer.from(toCanonicalText({ part }))),
    createMember('oci-layout', layoutFile),
    createMember('index.json', index),
  ];
  const all = function* (): Generator<Member> {
    yield* first;
    for (const { sha256, text } of documents) yield createMember(`blobs/sha256/${sha256}`, Buffer.from(text));
    for (const piece of pieces) yield { name: nameOf(piece, statement), size: piece.size, piece };
  };
  let length = 2 * block;
  const add = (size: number): void => {
    length += block + size + padding(size);
  };
  for (const { size } of first) add(size);
  sizes.forEach(add);
  for (const { size } of pieces) add(size);
  return { size: length, [Symbol.iterator]: all };
}

const noPieces: Sequence<TransferPiece> = [];

/** A blob that is complete in one part is in the OCI layout; pieces of blobs are not. */
function nameOf({ blob, offset, size }: TransferPiece, { blobs }: Pick<LazyTransferStatement, 'blobs'>): string {
  const of = blobs.at(blob)!;
  return size === of.size ? `blobs/sha256/${of.sha256}` : `larder/pieces/${of.sha256}/${String(offset)}`;
}
