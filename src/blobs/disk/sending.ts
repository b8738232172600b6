// Content on its way out of the store, read from its file ahead of whoever takes it, into memory that is used again and again.
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';

/** Large pieces cost least. Where all readers together hold so much, further ones make do with small pieces. */
const size = { large: 512 * 1024, small: 64 * 1024, together: 32 * 1024 * 1024 };
/** How much memory stays at hand that nobody uses just now. */
const atHand = 4;

/** The memory of pieces. Each reader has two, one of which is read into while the other one is taken. */
type Pair = readonly [Buffer, Buffer];

/** Memory for as many large pieces as all readers together may have, made when it is first needed. */
export class PieceMemory {
  readonly #idle: Pair[] = [];
  #lent = 0;

  take(length: number): Pair {
    if (length <= size.small || this.#lent >= size.together) return pairOf(Math.min(length, size.small));
    this.#lent += 2 * size.large;
    return this.#idle.pop() ?? pairOf(size.large);
  }

  /** `isUnused` says that nobody looks at it any more, so that it may be lent again. */
  giveBack(pair: Pair, isUnused: boolean): void {
    if (pair[0].length !== size.large) return;
    this.#lent -= 2 * size.large;
    if (isUnused && this.#idle.length < atHand) this.#idle.push(pair);
  }
}

const pairOf = (length: number): Pair => [Buffer.allocUnsafe(length), Buffer.allocUnsafe(length)];

export interface Passage {
  file: FileHandle;
  /** The bytes from `start` to before `end`. */
  start: number;
  end: number;
  memory: PieceMemory;
  /** Awaited before the last bytes are given away, and told all bytes when there are few; throws when they may not be. */
  proven: (all: Uint8Array | undefined) => Promise<void>;
}

/** A stream whose reader may also borrow the pieces: then nothing is copied, and nothing is left for anybody to tidy up. */
export class SentContent extends Readable {
  readonly #passage: Passage;
  #pieces: AsyncGenerator<Uint8Array, void> | undefined;

  constructor(passage: Passage) {
    super({ highWaterMark: size.small });
    this.#passage = passage;
  }

  /** The pieces, each of which may be looked at until the next one is asked for. Destroy the stream afterwards. */
  lend(): AsyncGenerator<Uint8Array, void> {
    this.#pieces = lent(this.#passage);
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
      .then(() => this.#passage.file.close())
      .then(
        () => done(error),
        (cause: unknown) => done(error ?? (cause as Error)),
      );
  }
}

async function* lent({ file, start, end, memory, proven }: Passage): AsyncGenerator<Uint8Array, void> {
  const pair = memory.take(end - start);
  let [next, other] = pair;
  let at = start;
  let reading = readPiece(file, next, at, end);
  let isUnused = false;
  try {
    if (at === end) await proven(new Uint8Array());
    while (at < end) {
      const piece = await reading;
      at += piece.length;
      [next, other] = [other, next];
      if (at < end) reading = readPiece(file, next, at, end);
      // Whoever waits for the next piece hears of its failure; before that it must not count as unhandled.
      reading.catch(() => undefined);
      if (at === end) await proven(piece.length === end - start ? piece : undefined);
      yield piece;
    }
    isUnused = true;
  } finally {
    await reading.catch(() => undefined);
    memory.giveBack(pair, isUnused);
  }
}

/** Throws when the file ends before it should: nothing is ever put in the place of what is missing. */
async function readPiece(file: FileHandle, into: Buffer, at: number, end: number): Promise<Uint8Array> {
  if (at === end) return into.subarray(0, 0);
  const { bytesRead } = await file.read(into, 0, Math.min(into.length, end - at), at);
  if (bytesRead === 0) throw new Error(`the file of a blob ends at ${at} bytes and should have ${end}`);
  return into.subarray(0, bytesRead);
}
