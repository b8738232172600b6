// What comes of one transfer is kept: each content once, several of them at a time.
import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Statement } from '#acts/transfer-statement.ts';
import type { TransferBlob, TransferPiece } from '#api/wire.ts';
import { oneByOne, type Blobs } from '#blobs/blobs.ts';
import { copyRanges, CutOff } from '#blobs/copying.ts';
import type { FileRange, FileRanges } from '#blobs/file-ranges.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { after, days, timestamp } from '#domain/clock.ts';
import { limit } from '#domain/limit.ts';
import { readingFailed } from '#files/archive.ts';
import { makeFolder } from '#files/durable.ts';
import { namesIn } from '#files/read.ts';
import { syncFolder, writeWhole } from '#files/streamed.ts';
import type { Records } from '#records/index.ts';
import { NotATransfer } from './form/not-a-transfer.ts';
import type { OpenPart, OpenPiece } from './form/read.ts';

export interface Keeping {
  records: Records;
  blobs: Blobs;
  digests: DigestPool;
  /** The data directory. */
  directory: string;
  /** Told of each content that has come and was not here. */
  came: (sha3_384: string) => void;
  /** How many bytes a content may have. */
  largest: number;
  /** Ends it where it is; what has come stays, and is not read again. */
  signal: AbortSignal;
  progress: (step: string, done: number, total: number) => void;
}

/** What of a waiting transfer has come is held for so long after it expires. */
const heldAfterwards = days(30);

/** Until when what comes of a transfer is held. */
export const heldUntil = ({ expires }: Pick<Statement, 'expires'>): string =>
  timestamp(after(new Date(expires), heldAfterwards));

/**
 * So many contents come in at a time: their hashes share the processors, and none waits for the disk alone. Of small ones that lie
 * in files here many more do, which are taken in together.
 */
const atOnce = { any: 8, small: 128, bytes: 32 * 1024 * 1024 };
/**
 * So many are noted as come by one commit, which waits for their folders to be durable: there are 256 of them, and of 512 contents
 * half had one, so that each third sync was that of a folder. What was not noted when the process ends comes in again.
 */
const notedTogether = { contents: 8192, bytes: 512 * 1024 * 1024 };

/** Where pieces of contents lie that have not come as a whole. */
export const piecesOf = (directory: string, id: string): string => join(directory, 'transfers', id);

export class Intake {
  readonly #statement: Statement;
  readonly #id: string;
  readonly #keeping: Keeping;
  readonly #endsAt: string;
  readonly #folder: string;
  /** The pieces that lie in the folder, by their SHA-256. */
  readonly #pieces: Set<string>;
  /** The pieces of each blob that is cut, in their order, by its number. */
  readonly #cut: ReadonlyMap<number, TransferPiece[]>;
  /** Pieces that are read when all of their blob are at hand, by their names. */
  readonly #open = new Map<string, Waiting>();
  /** The names of pieces that come with the parts that are at hand now. */
  #atHand: ReadonlySet<string> = new Set();
  /** Contents that have come, and are not noted yet: a process that ends now reads them again. */
  #unnoted: string[] = [];
  #unnotedBytes = 0;
  /** Of one blob there is one piece at a time: with the last of them it is put together. */
  readonly #inTurn = limit({ atOnce: 1 });

  constructor(statement: Statement, id: string, keeping: Keeping) {
    this.#statement = statement;
    this.#id = id;
    this.#keeping = keeping;
    this.#endsAt = heldUntil(statement);
    this.#folder = piecesOf(keeping.directory, id);
    this.#pieces = new Set(namesIn(this.#folder));
    const cut = statement.parts
      .values()
      .flatMap((pieces) => pieces.values().filter(({ blob, size }) => size < statement.blobs.at(blob)!.size));
    this.#cut = Map.groupBy(cut, ({ blob }) => blob);
  }

  /** Takes in parts that stay open meanwhile. */
  async take(parts: readonly OpenPart[]): Promise<void> {
    const whole = parts.values().filter(({ takenOut = [] }) => takenOut.length === 0);
    const pieces = whole.flatMap(({ part }) => this.#statement.parts[part - 1]!.values());
    this.#atHand = new Set(pieces.filter(({ blob }) => this.#cut.has(blob)).map(nameOf));
    try {
      for (const part of parts) await this.#takePart(part);
    } catch (error) {
      // Whoever brings what has failed once more need not bring the rest again.
      if (isOfSource(error)) await this.#keepOpen([...this.#open.values()]);
      throw error;
    }
  }

  async #takePart(part: OpenPart): Promise<void> {
    const { records, progress, signal } = this.#keeping;
    const arrived = await records.transfers.arrived(this.#id);
    const step = `part ${String(part.part)} of ${String(this.#statement.parts.length)}`;
    let done = 0;
    const underWay = new UnderWay();
    try {
      for await (const one of part.pieces()) {
        signal.throwIfAborted();
        await underWay.room(one);
        underWay.add(one, async () => {
          let hasCome = false;
          await this.#takePiece(one, arrived, () => {
            if (!hasCome) progress(step, (done += one.piece.size), part.size);
            hasCome = true;
          });
        });
      }
      await underWay.end();
    } finally {
      // Nothing may go on behind whoever hears of a failure.
      await underWay.idle();
      await this.#note();
    }
  }

  /** The parts of which something has not come. */
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

  async #takePiece(one: OpenPiece, arrived: ReadonlySet<string>, came: () => void): Promise<void> {
    const { of, piece } = one;
    if (!arrived.has(of['sha3-384']) && !(await this.#isHere(of))) {
      if (piece.size < of.size) {
        await this.#inTurn(() => this.#takeCut({ one, came }));
        return;
      }
      if (one.ranges !== undefined) await this.#copyIn(of, one.ranges(), one);
      // Both digests of a whole content are computed as it comes in; proving it while it is read would hash it once more.
      else await this.#receive(of, one.unproven(), one.wrong);
    }
    came();
  }

  /** Whether a content is here already, whole; it is held from now on. */
  async #isHere({ 'sha3-384': sha3_384 }: TransferBlob): Promise<boolean> {
    const { records, blobs } = this.#keeping;
    if (!(await records.neededContents.has(sha3_384)) || !(await blobs.prove(sha3_384))) return false;
    await this.#arrive(sha3_384, 0);
    return true;
  }

  /** Takes in what lies in files here: whoever reads them digests it on the way. */
  async #copyIn(
    { 'sha3-384': sha3_384, sha256, size }: TransferBlob,
    ranges: FileRanges,
    { at, wrong }: { at: { file: string }; wrong: () => Error },
  ): Promise<void> {
    const { blobs, largest, signal } = this.#keeping;
    await blobs
      .copyIn(ranges, { id: randomUUID(), expected: { sha3_384, sha256, size }, limit: largest, wrong, signal })
      .catch((error: unknown) => saidOf(at.file)(error));
    await this.#arrive(sha3_384, size);
  }

  async #receive(blob: TransferBlob, bytes: AsyncIterable<Uint8Array>, wrong: () => Error): Promise<void> {
    const { blobs, largest, signal } = this.#keeping;
    const { 'sha3-384': sha3_384, size, sha256 } = blob;
    await blobs.receive(oneByOne(until(signal, bytes)), {
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
    const { contents, bytes: most } = notedTogether;
    if (this.#unnoted.length >= contents || this.#unnotedBytes >= most) await this.#note();
  }

  async #note(): Promise<void> {
    const some = this.#unnoted;
    [this.#unnoted, this.#unnotedBytes] = [[], 0];
    if (some.length === 0) return;
    await this.#keeping.blobs.placed();
    await this.#keeping.records.passing(async ({ transfers }) => {
      for (const sha3_384 of some) await transfers.arrive(this.#id, sha3_384, this.#endsAt);
    });
  }

  /** Writes a piece, whole and durable. */
  #write(file: string, { piece: { size, sha256 }, at, ranges, bytes, wrong }: OpenPiece): Promise<void> {
    const { digests, signal } = this.#keeping;
    if (ranges === undefined) return writeWhole(file, until(signal, bytes()), 0o600);
    const algorithms = ['sha256'] as const;
    return writeWhole(
      file,
      async ({ fd }) => {
        const copied = await copyRanges(fd, { ranges: ranges(), size, algorithms, signal }, digests).catch(
          (error: unknown) => (error instanceof CutOff ? undefined : saidOf(at.file)(error)),
        );
        if (copied?.sha256 !== sha256) throw wrong();
      },
      0o600,
    );
  }

  /**
   * Takes in a piece of a blob. Where all others are at hand as well, the blob is put together of the parts themselves, with the last
   * of its pieces; otherwise this one is kept until they are. Of what fails meanwhile the pieces are kept that can be.
   */
  async #takeCut(waiting: Waiting): Promise<void> {
    const { piece } = waiting.one;
    const all = this.#cut.get(piece.blob) ?? [];
    const isAtHand = (one: TransferPiece): boolean => this.#pieces.has(one.sha256) || this.#atHand.has(nameOf(one));
    if (waiting.one.ranges === undefined || !all.every(isAtHand)) {
      await this.#keepPiece(waiting);
      if (all.every(({ sha256 }) => this.#pieces.has(sha256))) await this.#join(waiting.one, all);
      return;
    }
    if (this.#pieces.has(piece.sha256)) waiting.came();
    else this.#open.set(nameOf(piece), waiting);
    if (!all.every((one) => this.#pieces.has(one.sha256) || this.#open.has(nameOf(one)))) return;
    const others = all.flatMap((one) => this.#open.get(nameOf(one)) ?? []);
    try {
      await this.#join(waiting.one, all);
    } catch (error) {
      // Read one by one they say which of them it was.
      throw (isOfSource(error) && (await this.#keepOpen(others))) || error;
    } finally {
      for (const one of all) this.#open.delete(nameOf(one));
    }
  }

  /** Keeps those of some pieces that can be read and are right; what is wrong with the first of the others. */
  async #keepOpen(some: readonly Waiting[]): Promise<unknown> {
    let wrong: unknown;
    for (const one of some) {
      await this.#keepPiece(one).catch((error: unknown) => {
        wrong ??= error;
      });
    }
    return wrong;
  }

  /** Keeps a piece until all of its blob have come. */
  async #keepPiece({ one, came }: Waiting): Promise<void> {
    const { piece } = one;
    if (!this.#pieces.has(piece.sha256)) {
      makeFolder(this.#folder);
      const fresh = join(this.#folder, `.${piece.sha256}.${randomUUID()}`);
      try {
        await this.#write(fresh, one);
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

  /** Puts a blob together of pieces that are kept, and of others where they lie. */
  async #join({ of }: OpenPiece, all: readonly TransferPiece[]): Promise<void> {
    // Where it is being read.
    const at = { file: this.#folder };
    const ranges = async function* (this: Intake): AsyncGenerator<FileRange> {
      for (const piece of all) {
        const waiting = this.#pieces.has(piece.sha256) ? undefined : this.#open.get(nameOf(piece));
        at.file = waiting?.one.at.file ?? this.#fileOf(piece);
        yield* waiting?.one.ranges?.() ?? keptIn(at.file, piece);
        waiting?.came();
      }
    };
    const wrong = () =>
      new NotATransfer(`The content ${of.sha256} in it has not the digests that its statement gives.`);
    await this.#copyIn(of, ranges.call(this), { at, wrong });
    await this.#note();
    for (const one of all) {
      await rm(this.#fileOf(one), { force: true });
      this.#pieces.delete(one.sha256);
    }
  }

  #fileOf({ sha256 }: TransferPiece): string {
    return join(this.#folder, sha256);
  }
}

/** A piece of a blob that is cut, and who is told when it has come. */
interface Waiting {
  one: OpenPiece;
  came: () => void;
}

/** By which a piece is known among all of a transfer: another one may have the same bytes. */
const nameOf = ({ blob, offset }: TransferPiece): string => `${String(blob)} ${String(offset)}`;

/** The pieces that come in at the moment. */
class UnderWay {
  #bytes = 0;
  #pieces = 0;
  /** What went wrong first. */
  #failure: { error: unknown } | undefined;
  /** Settles with the next that ends. */
  #next = Promise.withResolvers<undefined>();

  /** Resolves when there is room for one more; rejects where one has failed. */
  async room({ piece, ranges }: OpenPiece): Promise<void> {
    const isSmall = ranges !== undefined && piece.size < atOnce.bytes / atOnce.any;
    while (this.#pieces >= (isSmall && this.#bytes < atOnce.bytes ? atOnce.small : atOnce.any))
      await this.#next.promise;
    this.#mustGoWell();
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
    this.#mustGoWell();
  }

  /** Resolves when nothing comes in any more, well or not. */
  async idle(): Promise<void> {
    while (this.#pieces > 0) await this.#next.promise;
  }

  #mustGoWell(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

/** Whether what failed is what lies on the stick, rather than this site or whoever has interrupted it. */
const isOfSource = (error: unknown): boolean =>
  error instanceof NotATransfer || (error as NodeJS.ErrnoException).syscall === 'read';

/** Says of which file it was that it cannot be read. */
const saidOf =
  (file: string) =>
  (error: unknown): never => {
    throw (error as NodeJS.ErrnoException).syscall === 'read' ? readingFailed(file, error) : error;
  };

async function* keptIn(file: string, { size }: TransferPiece): AsyncGenerator<FileRange> {
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
