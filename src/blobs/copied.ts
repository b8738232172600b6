// A file that is filled with what lies in others, and digested on the way, while it is in the processor's cache. What does
// this is a thread, which waits for the disk meanwhile.
import { createHash, type Hash } from 'node:crypto';
import * as fs from 'node:fs';

/** What this does to the disk: handed in, so that a test can watch what is written when. */
export type CopyDisk = Pick<typeof fs, 'readSync' | 'writeSync' | 'ftruncateSync' | 'futimesSync'>;

/** A file that is copied, by the descriptors of others, which stay theirs. */
export interface Copy {
  to: number;
  from: number;
  /** Where in it what is read next lies. */
  offset: number;
  hashes: Hash[];
  /** How much was copied. */
  read: number;
  /** Of a copy that is written past the page cache, which takes whole pages: what is read, and no page yet. */
  rest: Uint8Array | undefined;
}

export const beginCopy = (to: number, algorithms: readonly string[], direct: boolean): Copy => ({
  ...{ to, from: -1, offset: 0, read: 0 },
  hashes: algorithms.map((algorithm) => createHash(algorithm)),
  rest: direct ? new Uint8Array() : undefined,
});

export const pieceSize = 256 * 1024;
export const piece = Buffer.allocUnsafeSlow(pieceSize);
/** The kernel reads and writes past its cache only in memory that begins with a page, as that of WebAssembly does. */
let aligned: Uint8Array | undefined;
const pageSize = 4096;
declare const WebAssembly: { Memory: new (size: { initial: number }) => { buffer: ArrayBuffer } };

export const alignedPiece = (): Uint8Array =>
  (aligned ??= new Uint8Array(new WebAssembly.Memory({ initial: pieceSize / 65_536 }).buffer));

/** Ends where the file does, however much was asked for: what is copied is held against its digest. */
export function copyOn(copy: Copy, size: number, disk: CopyDisk = fs): void {
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

/** Writes what is no whole page: as one, of which the end is taken off again. */
export function finishCopy({ to, rest, read }: Copy, time: Date | undefined, disk: CopyDisk = fs): void {
  if (rest !== undefined && rest.length > 0) {
    const last = alignedPiece().subarray(0, pageSize).fill(0);
    last.set(rest);
    writeAll(disk, to, last, read - rest.length);
    disk.ftruncateSync(to, read);
  }
  if (time !== undefined) disk.futimesSync(to, time, time);
}

/** A disk that is nearly full takes a part; asked for the rest it says why. */
function writeAll(disk: CopyDisk, to: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length;) at += disk.writeSync(to, bytes, at, bytes.length - at, position + at);
}

const wholePages = (length: number): number => length - (length % pageSize);
