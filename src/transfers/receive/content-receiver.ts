// Receives the contents of a transfer and stores each once, several at a time.
import { randomUUID } from '#domain/cryptography.ts';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { LazyTransferStatement } from '#acts/transfers/statement.ts';
import type { TransferBlob, TransferPiece } from '#contract/wire.ts';
import { toChunks, type Blobs } from '#blobs/blobs.ts';
import { copyRanges, TruncatedSource } from '#blobs/copy-ranges.ts';
import type { FileRange, FileRanges } from '#blobs/file-ranges.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import { readingFailed } from '#files/tar-archive.ts';
import { makeFolder } from '#files/durable.ts';
import { listNames } from '#files/read.ts';
import { syncFolder, createDurableFile } from '#files/durable-streams.ts';
import type { StoreRecords } from '#records/index.ts';
import { NotATransfer } from '../statement/not-a-transfer.ts';
import type { OpenPart, OpenPiece } from '../parts/open-part.ts';

export interface TransferContentReceiverOptions {
  records: StoreRecords;
  blobs: Blobs;
  digests: DigestPool;
  /** The data directory. */
  directory: string;
  /** Called for each received content that was not stored before. */
  came: (sha3_384: string) => void;
  /** Maximum size of a content in bytes. */
  largest: number;
  /** Stops receiving. Contents already received stay and are not read again. */
  signal: AbortSignal;
  progress: (step: string, done: number, total: number) => void;
}

/** How long received contents of a waiting transfer are kept after it expires. */
const heldAfterExpiryMs = days(30);

/** Returns the time until which received contents of a transfer are kept. */
export const heldUntil = ({ expires }: Pick<LazyTransferStatement, 'expires'>): string =>
  timestamp(after(new Date(expires), heldAfterExpiryMs));

/**
 * Contents received concurrently: hashing uses all processors while others wait for the disk. Small contents in local files allow a higher
 * number, limited by their total bytes: two groups for each of three threads.
 */
const concurrency = { any: 8, small: 192, bytes: 48 * 1024 * 1024 };
/**
 * Limits of received contents per commit. Each commit first syncs the folders of its contents (256 in all); with 512 contents per commit,
 * every third sync was of a folder. Contents not yet recorded when the process ends are received again.
 */
const commitLimits = { contents: 8192, bytes: 512 * 1024 * 1024 };

/** Returns the folder for pieces of incomplete contents. */
export const pieceFolderOf = (directory: string, id: string): string => join(directory, 'transfers', id);

export class TransferContentReceiver {
  readonly #statement: LazyTransferStatement;
  readonly #id: string;
  readonly #keeping: TransferContentReceiverOptions;
  readonly #endsAt: string;
  readonly #folder: string;
  /** Pieces in the folder, by their SHA-256. */
  readonly #pieces: Set<string>;
  /** The ordered pieces of each blob that is cut, by blob number. */
  readonly #cut: ReadonlyMap<number, TransferPiece[]>;
  /** Pieces to be read when all pieces of their blob are available, by name. */
  readonly #open = new Map<string, WaitingPiece>();
  /** Names of the pieces in the parts that are currently open. */
  #atHand: ReadonlySet<string> = new Set();
  /** Received contents that are not recorded yet. If the process ends now, they are read again. */
  #unnoted: string[] = [];
  #unnotedBytes = 0;
  /** Handles the pieces of cut blobs one at a time, because the last piece assembles the blob. */
  readonly #inTurn = createConcurrencyLimit({ concurrency: 1 });

  constructor(statement: LazyTransferStatement, id: string, keeping: TransferContentReceiverOptions) {
    this.#statement = statement;
    this.#id = id;
    this.#keeping = keeping;
    this.#endsAt = heldUntil(statement);
    this.#folder = pieceFolderOf(keeping.directory, id);
    this.#pieces = new Set(listNames(this.#folder));
    const cut = statement.parts
      .values()
      .flatMap((pieces) => pieces.values().filter(({ blob, size }) => size < statement.blobs.at(blob)!.size));
    this.#cut = Map.groupBy(cut, ({ blob }) => blob);
  }

  /** Receives parts. The caller keeps them open until it returns. */
  async take(parts: readonly OpenPart[]): Promise<void> {
    const whole = parts.values().filter(({ takenOut = [] }) => takenOut.length === 0);
    const pieces = whole.flatMap(({ part }) => this.#statement.parts[part - 1]!.values());
    this.#atHand = new Set(pieces.filter(({ blob }) => this.#cut.has(blob)).map(nameOf));
    try {
      for (const part of parts) await this.#takePart(part);
    } catch (error) {
      // Store the pieces, so that the next attempt needs only the failed part.
      if (isOfSource(error)) await this.#keepOpen([...this.#open.values()]);
      throw error;
    }
  }

  async #takePart(part: OpenPart): Promise<void> {
    const { records, progress, signal } = this.#keeping;
    const arrived = await records.transfers.arrived(this.#id);
    const step = `part ${String(part.part)} of ${String(this.#statement.parts.length)}`;
    let done = 0;
    const underWay = new PiecesInProgress();
    try {
      for await (const openPiece of part.pieces()) {
        signal.throwIfAborted();
        await underWay.room(openPiece);
        underWay.add(openPiece, async () => {
          let hasCome = false;
          await this.#takePiece(openPiece, arrived, () => {
            if (!hasCome) progress(step, (done += openPiece.piece.size), part.size);
            hasCome = true;
          });
        });
      }
      await underWay.end();
    } finally {
      // Wait, so that no work continues after the caller has seen a failure.
      await underWay.idle();
      await this.#note();
    }
  }

  /** Returns the numbers of the parts with missing contents. */
  async lacking(): Promise<number[]> {
    const arrived = await this.#keeping.records.transfers.arrived(this.#id);
    const { parts, blobs } = this.#statement;
    return parts.flatMap((some, at) => {
      const lacks = some
        .values()
        .some(({ blob, sha256 }) => !arrived.has(blobs.at(blob)!['sha3-384']) && !this.#pieces.has(sha256));
      return lacks ? [at + 1] : [];
    });
  }

  async #takePiece(openPiece: OpenPiece, arrived: ReadonlySet<string>, came: () => void): Promise<void> {
    const { of, piece } = openPiece;
    if (!arrived.has(of['sha3-384']) && !(await this.#isHere(of))) {
      if (piece.size < of.size) {
        await this.#inTurn(() => this.#takeCut({ openPiece, came }));
        return;
      }
      if (openPiece.ranges !== undefined) await this.#copyIn(of, openPiece.ranges(), openPiece);
      // Receiving computes both digests of a whole content, so verifying while reading would hash it twice.
      else await this.#receive(of, openPiece.unproven(), openPiece.wrong);
    }
    came();
  }

  /** Returns whether an intact content is already stored, and reserves it for the transfer. */
  async #isHere({ 'sha3-384': sha3_384 }: TransferBlob): Promise<boolean> {
    const { records, blobs } = this.#keeping;
    if (!(await records.neededContents.has(sha3_384)) || !(await blobs.prove(sha3_384))) return false;
    await this.#arrive(sha3_384, 0);
    return true;
  }

  /** Receives a content from local files. The copy computes the digests. */
  async #copyIn(
    { 'sha3-384': sha3_384, sha256, size }: TransferBlob,
    ranges: FileRanges,
    { at, wrong }: { at: { file: string }; wrong: () => Error },
  ): Promise<void> {
    const { blobs, largest, signal } = this.#keeping;
    await blobs
      .copyIn(ranges, { id: randomUUID(), expected: { sha3_384, sha256, size }, limit: largest, wrong, signal })
      .catch((error: unknown) => addFileName(at.file)(error));
    await this.#arrive(sha3_384, size);
  }

  async #receive(blob: TransferBlob, bytes: AsyncIterable<Uint8Array>, wrong: () => Error): Promise<void> {
    const { blobs, largest, signal } = this.#keeping;
    const { 'sha3-384': sha3_384, size, sha256 } = blob;
    await blobs.receive(toChunks(until(signal, bytes)), {
      id: randomUUID(),
      limit: largest,
      expected: size,
      ownsChunks: true,
      accept(taken) {
        if (taken.sha3_384 === sha3_384 && taken.sha256 === sha256) return;
        throw wrong();
      },
    });
    await this.#arrive(sha3_384, size);
  }

  async #arrive(sha3_384: string, bytes: number): Promise<void> {
    this.#unnoted.push(sha3_384);
    this.#unnotedBytes += bytes;
    if (bytes > 0) this.#keeping.came(sha3_384);
    const { contents, bytes: maxBytes } = commitLimits;
    if (this.#unnoted.length >= contents || this.#unnotedBytes >= maxBytes) await this.#note();
  }

  async #note(): Promise<void> {
    const some = this.#unnoted;
    [this.#unnoted, this.#unnotedBytes] = [[], 0];
    if (some.length === 0) return;
    await this.#keeping.blobs.placed();
    await this.#keeping.records.ephemeral(async ({ transfers }) => {
      for (const sha3_384 of some) await transfers.arrive(this.#id, sha3_384, this.#endsAt);
    });
  }

  /** Writes a piece completely and durably. */
  #write(file: string, { piece: { size, sha256 }, at, ranges, bytes, wrong }: OpenPiece): Promise<void> {
    const { digests, signal } = this.#keeping;
    if (ranges === undefined) return createDurableFile(file, until(signal, bytes()), 0o600);
    const algorithms = ['sha256'] as const;
    return createDurableFile(
      file,
      async ({ fd }) => {
        const copied = await copyRanges(fd, { ranges: ranges(), size, algorithms, signal }, digests).catch(
          (error: unknown) => (error instanceof TruncatedSource ? undefined : addFileName(at.file)(error)),
        );
        if (copied?.sha256 !== sha256) throw wrong();
      },
      0o600,
    );
  }

  /**
   * Receives a piece of a cut blob. If all other pieces are available, assembles the blob directly from the open parts when its last piece
   * arrives; else stores the piece. If assembling fails, stores the usable pieces.
   */
  async #takeCut(waiting: WaitingPiece): Promise<void> {
    const { piece } = waiting.openPiece;
    const all = this.#cut.get(piece.blob) ?? [];
    const isAtHand = (other: TransferPiece): boolean =>
      this.#pieces.has(other.sha256) || this.#atHand.has(nameOf(other));
    if (waiting.openPiece.ranges === undefined || !all.every(isAtHand)) {
      await this.#keepPiece(waiting);
      if (all.every(({ sha256 }) => this.#pieces.has(sha256))) await this.#join(waiting.openPiece, all);
      return;
    }
    if (this.#pieces.has(piece.sha256)) waiting.came();
    else this.#open.set(nameOf(piece), waiting);
    if (!all.every((other) => this.#pieces.has(other.sha256) || this.#open.has(nameOf(other)))) return;
    const others = all.flatMap((other) => this.#open.get(nameOf(other)) ?? []);
    try {
      await this.#join(waiting.openPiece, all);
    } catch (error) {
      // Reading the pieces one by one finds the bad one.
      throw (isOfSource(error) && (await this.#keepOpen(others))) || error;
    } finally {
      for (const other of all) this.#open.delete(nameOf(other));
    }
  }

  /** Stores the pieces that are readable and correct. Returns the first error. */
  async #keepOpen(some: readonly WaitingPiece[]): Promise<unknown> {
    let wrong: unknown;
    for (const waiting of some) {
      await this.#keepPiece(waiting).catch((error: unknown) => {
        wrong ??= error;
      });
    }
    return wrong;
  }

  /** Stores a piece until its blob is complete. */
  async #keepPiece({ openPiece, came }: WaitingPiece): Promise<void> {
    const { piece } = openPiece;
    if (!this.#pieces.has(piece.sha256)) {
      makeFolder(this.#folder);
      const fresh = join(this.#folder, `.${piece.sha256}.${randomUUID()}`);
      try {
        await this.#write(fresh, openPiece);
        await rename(fresh, this.#fileOf(piece));
      } catch (error) {
        await rm(fresh, { force: true });
        throw error;
      }
      await syncFolder(this.#folder);
      this.#pieces.add(piece.sha256);
    }
    came();
  }

  /** Assembles a blob from stored pieces and from pieces in open parts. */
  async #join({ of }: OpenPiece, all: readonly TransferPiece[]): Promise<void> {
    // The file that is currently read, for error messages.
    const at = { file: this.#folder };
    const ranges = async function* (this: TransferContentReceiver): AsyncGenerator<FileRange> {
      for (const piece of all) {
        const waiting = this.#pieces.has(piece.sha256) ? undefined : this.#open.get(nameOf(piece));
        at.file = waiting?.openPiece.at.file ?? this.#fileOf(piece);
        yield* waiting?.openPiece.ranges?.() ?? rangesOfPiece(at.file, piece);
        waiting?.came();
      }
    };
    const wrong = () => new NotATransfer(`The content ${of.sha256} in it does not match the digests of its statement.`);
    await this.#copyIn(of, ranges.call(this), { at, wrong });
    await this.#note();
    for (const piece of all) {
      await rm(this.#fileOf(piece), { force: true });
      this.#pieces.delete(piece.sha256);
    }
  }

  #fileOf({ sha256 }: TransferPiece): string {
    return join(this.#folder, sha256);
  }
}

/** A piece of a cut blob, and the function to call when it is received. */
interface WaitingPiece {
  openPiece: OpenPiece;
  came: () => void;
}

/** Returns a key for a piece of a blob, unique within a transfer. A digest is not: two pieces can have the same bytes. */
const nameOf = ({ blob, offset }: TransferPiece): string => `${String(blob)} ${String(offset)}`;

/** Tracks the pieces that are currently being received. */
class PiecesInProgress {
  #bytes = 0;
  #pieces = 0;
  /** The first error. */
  #failure: { error: unknown } | undefined;
  /** Settles when the next piece ends. */
  #next = Promise.withResolvers<undefined>();

  /** Resolves when another piece may start. Rejects if one has failed. */
  async room({ piece, ranges }: OpenPiece): Promise<void> {
    const isSmall = ranges !== undefined && piece.size < concurrency.bytes / concurrency.any;
    while (this.#pieces >= (isSmall && this.#bytes < concurrency.bytes ? concurrency.small : concurrency.any))
      await this.#next.promise;
    this.#throwFailure();
  }

  add({ piece: { size } }: OpenPiece, work: () => Promise<void>): void {
    this.#pieces += 1;
    this.#bytes += size;
    void work()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#pieces -= 1;
        this.#bytes -= size;
        this.#next.resolve(undefined);
        this.#next = Promise.withResolvers();
      });
  }

  async end(): Promise<void> {
    await this.idle();
    this.#throwFailure();
  }

  /** Resolves when no piece is being received, even after failures. */
  async idle(): Promise<void> {
    while (this.#pieces > 0) await this.#next.promise;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/** Returns whether an error is caused by the source medium, not by this site or an interruption. */
const isOfSource = (error: unknown): boolean =>
  error instanceof NotATransfer || (error as NodeJS.ErrnoException).syscall === 'read';

/** Adds the file name to a read error. */
const addFileName =
  (file: string) =>
  (error: unknown): never => {
    throw (error as NodeJS.ErrnoException).syscall === 'read' ? readingFailed(file, error) : error;
  };

async function* rangesOfPiece(file: string, { size }: TransferPiece): AsyncGenerator<FileRange> {
  const handle = await open(file, 'r');
  try {
    yield { descriptor: handle.fd, offset: 0, size };
  } finally {
    await handle.close();
  }
}

async function* until<Bytes>(signal: AbortSignal, bytes: AsyncIterable<Bytes>): AsyncGenerator<Bytes> {
  for await (const some of bytes) {
    signal.throwIfAborted();
    yield some;
  }
}
