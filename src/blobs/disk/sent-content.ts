// Sends content: reads its file ahead of the receiver, into reused memory.
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

import { releaseBuffer } from '#platform/small-heap.ts';

/**
 * Large pieces cost least: over TLS 0.75 s of processor time per GiB, small ones 0.95 s (`npm run bench -- downloads`). The first readers
 * get two large pieces each, further ones one, then one medium piece, as long as all readers together use at most `upTo` bytes; the rest
 * get small ones. A hundred downloads need 22 MiB this way. With two large pieces up to 32 MiB and small ones for the rest they need
 * 34 MiB and more processor time.
 */
const [large, medium, small] = [512 * 1024, 128 * 1024, 32 * 1024];
const shapes = [
  { count: 2, size: large, upTo: 4 * 1024 * 1024 },
  { count: 1, size: large, upTo: 12 * 1024 * 1024 },
  { count: 1, size: medium, upTo: 22 * 1024 * 1024 },
];
/** The number of unused buffers that are kept. */
const maxIdleBuffers = 4;
/** A reader that takes this many milliseconds for a piece gets small ones from then on, and releases its memory. */
const defaultSlowPieceMs = 2000;

/** The memory of a reader: two large pieces, one to read into while the other is being sent, or one smaller piece. */
interface PieceBuffers {
  pieces: readonly [Buffer, Buffer] | readonly [Buffer];
  /** The bytes that count for all readers together; none for a small piece. */
  lent: number;
}

/** Memory for the pieces of all readers, allocated when it is first needed. */
export class PieceMemory {
  readonly slowPieceMs: number;
  readonly #idle: PieceBuffers[] = [];
  #lent = 0;

  constructor({ slowPieceMs: milliseconds = defaultSlowPieceMs }: { slowPieceMs?: number } = {}) {
    this.slowPieceMs = milliseconds;
  }

  take(length: number): PieceBuffers {
    const shape = shapes.find(({ count, size, upTo }) => this.#lent + count * size <= upTo);
    if (length <= small || shape === undefined) return this.small(length);
    const room = (shape.count === 2 ? this.#idle.pop() : undefined) ?? allocate(shape);
    this.#lent += room.lent;
    return room;
  }

  /** A thousand slow readers use 32 MB. */
  small = (length: number): PieceBuffers => ({ pieces: [Buffer.allocUnsafe(Math.min(length, small))], lent: 0 });

  /** `isUnused` says that the caller no longer reads the memory, so that it may be lent again. */
  giveBack(room: PieceBuffers, isUnused: boolean): void {
    this.#lent -= room.lent;
    if (!isUnused || room.lent === 0) return;
    if (room.pieces.length === 2 && this.#idle.length < maxIdleBuffers) this.#idle.push(room);
    // The next readers may come long before the next collection of the old generation.
    else for (const piece of room.pieces) releaseBuffer(piece);
  }
}

function allocate({ count, size }: { count: number; size: number }): PieceBuffers {
  const piece = (): Buffer => Buffer.allocUnsafeSlow(size);
  return { pieces: count === 2 ? [piece(), piece()] : [piece()], lent: count * size };
}

export interface SentRange {
  file: FileHandle;
  /** The bytes from `start` to before `end`. */
  start: number;
  end: number;
  memory: PieceMemory;
  /** Awaited before the last bytes are sent, with all bytes if they fit one piece; throws if the content is corrupt. */
  proven: (all: Uint8Array | undefined) => Promise<void>;
}

/** A content being sent. The reader may also borrow the pieces of this stream, without a copy and without any cleanup. */
export class SentContent extends Readable {
  readonly #range: SentRange;
  #pieces: AsyncGenerator<Uint8Array, void> | undefined;

  constructor(range: SentRange) {
    super({ highWaterMark: small });
    this.#range = range;
  }

  /** Yields the pieces; each is valid until the next one is requested. Destroy the stream afterwards. */
  lend(): AsyncGenerator<Uint8Array, void> {
    this.#pieces = lent(this.#range);
    return this.#pieces;
  }

  override _read(): void {
    const pieces = this.#pieces ?? this.lend();
    pieces.next().then(
      ({ done, value }) => this.push(done === true ? null : Buffer.from(value)),
      (error: unknown) => this.destroy(error as Error),
    );
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const ended = this.#pieces?.return() ?? Promise.resolve();
    ended
      .catch(() => undefined)
      .then(() => this.#range.file.close())
      .then(
        () => done(error),
        (cause: unknown) => done(error ?? (cause as Error)),
      );
  }
}

async function* lent({ file, start, end, memory, proven }: SentRange): AsyncGenerator<Uint8Array, void> {
  let room = memory.take(end - start);
  let ahead: Promise<Uint8Array> | undefined;
  let [isSlow, isUnused] = [false, false];
  try {
    if (start === end) await proven(new Uint8Array());
    for (let [at, number] = [start, 0]; at < end; number++) {
      const piece = await (ahead ?? readPiece(file, room.pieces[0], at, end));
      at += piece.length;
      const other = room.pieces.length === 2 && !isSlow && at < end ? room.pieces[(number + 1) % 2] : undefined;
      ahead = other && readPiece(file, other, at, end);
      // The reader of the next piece gets its failure; until then it must not count as an unhandled rejection.
      ahead?.catch(() => undefined);
      if (at === end) await proven(piece.length === end - start ? piece : undefined);
      const sentAt = performance.now();
      yield piece;
      isSlow ||= performance.now() - sentAt > memory.slowPieceMs;
      if (!isSlow || ahead !== undefined || room.lent === 0) continue;
      memory.giveBack(room, true);
      room = memory.small(end - at);
    }
    isUnused = true;
  } finally {
    await ahead?.catch(() => undefined);
    memory.giveBack(room, isUnused);
  }
}

/** Throws if the file ends early: missing bytes are never replaced. */
async function readPiece(file: FileHandle, into: Buffer, at: number, end: number): Promise<Uint8Array> {
  const { bytesRead } = await file.read(into, 0, Math.min(into.length, end - at), at);
  if (bytesRead === 0) throw new Error(`the file of a blob ends at ${at} bytes and should have ${end}`);
  return into.subarray(0, bytesRead);
}
