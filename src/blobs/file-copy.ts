// Fills a file with ranges of other files and computes digests while the bytes are in the processor's cache. It runs in
// a worker thread, because it blocks on the disk.
import { createDigest, type ContentDigest, type Hash } from '#domain/cryptography.ts';
import * as fs from 'node:fs';

/** The calls to the file system; a test passes its own to watch the order of writes. */
export type CopyDisk = Pick<typeof fs, 'readSync' | 'writeSync' | 'ftruncateSync' | 'futimesSync'>;

/** A copy in progress. The descriptors belong to the caller. */
export interface FileCopy {
  to: number;
  from: number;
  /** The offset of the next read in `from`. */
  offset: number;
  hashes: Hash[];
  /** How many bytes were copied. */
  read: number;
  /** Only for direct I/O, which writes whole pages: bytes that were read and do not fill a page yet. */
  rest: Uint8Array | undefined;
}

export const beginCopy = (to: number, algorithms: readonly ContentDigest[], direct: boolean): FileCopy => ({
  to,
  from: -1,
  offset: 0,
  read: 0,
  hashes: algorithms.map((algorithm) => createDigest(`content ${algorithm}`)),
  rest: direct ? new Uint8Array() : undefined,
});

export const pieceSize = 256 * 1024;
export const piece = Buffer.allocUnsafeSlow(pieceSize);
/** Direct I/O needs memory that is aligned to a page, as the memory of WebAssembly is. */
let aligned: Uint8Array | undefined;
const pageSize = 4096;
declare const WebAssembly: { Memory: new (size: { initial: number }) => { buffer: ArrayBuffer } };

export const alignedPiece = (): Uint8Array =>
  (aligned ??= new Uint8Array(new WebAssembly.Memory({ initial: pieceSize / 65_536 }).buffer));

/** Stops at the end of the file, even if more was requested: the caller verifies the digest of the copy. */
export function continueCopy(copy: FileCopy, size: number, disk: CopyDisk = fs): void {
  const into = copy.rest === undefined ? piece : alignedPiece();
  while (copy.read < size) {
    const before = copy.rest?.length ?? 0;
    if (copy.rest !== undefined) into.set(copy.rest);
    const length = disk.readSync(copy.from, into, before, Math.min(pieceSize - before, size - copy.read), copy.offset);
    if (length === 0) return;
    for (const hash of copy.hashes) hash.update(into.subarray(before, before + length));
    const whole = copy.rest === undefined ? length : wholePages(before + length);
    writeAll(disk, copy.to, into.subarray(0, whole), copy.read - before);
    if (copy.rest !== undefined) copy.rest = new Uint8Array(into.subarray(whole, before + length));
    copy.offset += length;
    copy.read += length;
  }
}

/** Writes the last, incomplete page as a whole page, then truncates the file. */
export function finishCopy({ to, rest, read }: FileCopy, time: Date | undefined, disk: CopyDisk = fs): void {
  if (rest !== undefined && rest.length > 0) {
    const last = alignedPiece().subarray(0, pageSize).fill(0);
    last.set(rest);
    writeAll(disk, to, last, read - rest.length);
    disk.ftruncateSync(to, read);
  }
  if (time !== undefined) disk.futimesSync(to, time, time);
}

/** A disk that is nearly full writes a part of the bytes; the next write gives the reason. */
function writeAll(disk: CopyDisk, to: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length;) at += disk.writeSync(to, bytes, at, bytes.length - at, position + at);
}

const wholePages = (length: number): number => length - (length % pageSize);
