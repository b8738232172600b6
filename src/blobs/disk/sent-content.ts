// Sends content: reads its file ahead of the receiver, into reused memory.
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/**
 * Large pieces cost least: over TLS 0.75 s of processor time per GiB, small ones 0.95 s (`npm run bench -- downloads`).
 * When all readers together use `together` bytes, further readers get small pieces.
 */
const size = { large: 512 * 1024, small: 32 * 1024, together: 32 * 1024 * 1024 };
/** The number of unused buffers that are kept. */
const maxIdleBuffers = 4;
/** A reader that takes this many milliseconds for a large piece gets small ones from then on, and releases its memory. */
const defaultSlowPieceMs = 2000;

/** The memory of a reader: two large pieces, one to read into while the other is being sent, or one small piece. */
interface PieceBuffers {
  pieces: readonly [Buffer, Buffer] | readonly [Buffer];
  isLarge: boolean;
}

/** Memory for the large pieces of all readers, allocated when it is first needed. */
export class PieceMemory {
  readonly slowPieceMs: number;
  readonly #idle: PieceBuffers[] = [];
  #lent = 0;

  constructor({ slowPieceMs: milliseconds = defaultSlowPieceMs }: { slowPieceMs?: number } = {}) {
    this.slowPieceMs = milliseconds;
  }

  take(length: number): PieceBuffers {
    if (length <= size.small || this.#lent >= size.together) return this.small(length);
    this.#lent += 2 * size.large;
    const pieces = () => [Buffer.allocUnsafe(size.large), Buffer.allocUnsafe(size.large)] as const;
    return this.#idle.pop() ?? { pieces: pieces(), isLarge: true };
  }

  /** A thousand slow readers use 32 MB. */
  small = (length: number): PieceBuffers => ({
    pieces: [Buffer.allocUnsafe(Math.min(length, size.small))],
    isLarge: false,
  });

  /** `isUnused` says that the caller no longer reads the memory, so that it may be lent again. */
  giveBack(room: PieceBuffers, isUnused: boolean): void {
    if (!room.isLarge) return;
    this.#lent -= 2 * size.large;
    if (isUnused && this.#idle.length < maxIdleBuffers) this.#idle.push(room);
  }
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
    super({ highWaterMark: size.small });
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
      const other = room.isLarge && !isSlow && at < end ? room.pieces[(number + 1) % 2] : undefined;
      ahead = other && readPiece(file, other, at, end);
      // The reader of the next piece gets its failure; until then it must not count as an unhandled rejection.
      ahead?.catch(() => undefined);
      if (at === end) await proven(piece.length === end - start ? piece : undefined);
      const sentAt = performance.now();
      yield piece;
      isSlow ||= performance.now() - sentAt > memory.slowPieceMs;
      if (!isSlow || ahead !== undefined || !room.isLarge) continue;
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
