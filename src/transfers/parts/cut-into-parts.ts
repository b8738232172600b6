// Cuts a transfer into parts of a maximum size.
import { Refusal } from '#domain/refusal.ts';
import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import { block, padding } from '#files/tar-header.ts';
import { StatementFileIndex } from './artifacts.ts';
import { measureCanonical } from '#domain/canonical-json.ts';

/** A byte range of a blob in a part. The digest is computed later, when the bytes are read. */
export interface Cut {
  blob: number;
  offset: number;
  size: number;
}

/** Reserve in bytes for signatures added later, such as a scanner's. */
const signaturesRoom = 16 * 1024;
/** Overhead per file in its part: two documents with their headers, and an index entry. */
const perFile = 4096;
/** Bytes per piece in the statement, which every part contains. */
const perPiece = 160;
const minPieceBytes = 1024 * 1024;

const rounded = (size: number): number => size + padding(size) + block;

/**
 * Cuts the blobs of a transfer into parts of at most `partSize` bytes, in order; one part by default. If a blob fits completely into the
 * next part, it moves there instead of being cut.
 */
export function cutIntoParts(statement: Omit<LazyTransferStatement, 'parts'>, partSize: number = Infinity): Cut[][] {
  const { blobs } = statement;
  const contained = new StatementFileIndex(statement);
  const text = measureCanonical({ ...statement, parts: [[]] });
  const pieces = blobs.length + (partSize === Infinity ? 0 : Math.ceil(bytesOf(blobs) / partSize) * 2);
  const begun = rounded(text + pieces * perPiece) + rounded(signaturesRoom) + 8 * block;
  if (partSize - begun < minPieceBytes + perFile) {
    throw new Refusal(
      'api-error',
      `A part of ${String(partSize)} bytes is too small: the statement in every part takes ${String(begun)} of them; ` +
        `let it have ${String(begun + 64 * minPieceBytes)} or more.`,
    );
  }
  const parts: Cut[][] = [[]];
  let room = partSize - begun;
  for (const [blob, { size, sha256 }] of blobs.values().map((entry, at) => [at, entry] as const)) {
    const overhead = contained.filesIn(sha256) * perFile + block;
    const whole = rounded(size) + overhead;
    if (whole > room && (whole <= partSize - begun || room < minPieceBytes + overhead))
      room = begin(parts, partSize - begun);
    for (let offset = 0; ;) {
      const maxBytes = room - overhead - 2 * block;
      const pieceSize = Math.min(size - offset, Math.floor(maxBytes / block) * block);
      parts.at(-1)!.push({ blob, offset, size: pieceSize });
      room -= rounded(pieceSize) + overhead;
      offset += pieceSize;
      if (offset >= size) break;
      room = begin(parts, partSize - begun);
    }
  }
  return parts;
}

function begin(parts: Cut[][], room: number): number {
  if (parts.at(-1)!.length > 0) parts.push([]);
  return room;
}

const bytesOf = (blobs: LazyTransferStatement['blobs']): number =>
  blobs.values().reduce((sum, { size }) => sum + size, 0);
