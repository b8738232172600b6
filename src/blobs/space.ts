// Keeps uploads from filling the disk: space promised to running uploads counts as used before it is written, including
// the promises of other processes of the store.
//
// Each process holds a share of the disk: how much it may still write. A share is a row; it is some 64 MiB larger than
// the promises, so that many small uploads need one row together. Writing uses the share up, and the row is updated
// from time to time; until then it overstates the share, which is safe.
import { statfsSync } from 'node:fs';

import { notEnoughSpace } from '#domain/disk-full.ts';
import { createConcurrencyLimit } from '#domain/concurrency-limit.ts';
import { sumHeld, type Shares } from './shares.ts';

/** The space promised to one upload. */
export interface SpaceClaim {
  /** Reports that the file has `size` bytes now. Refuses if the disk has become too full to continue. */
  wrote(size: number): Promise<void>;
  release(): Promise<void>;
}

export interface Space {
  /**
   * Promises room for a file of `expected` bytes, or refuses; `writtenBytes` bytes of it are already written. Without
   * `expected` the promise grows with the bytes written.
   */
  claim(expected: number | undefined, writtenBytes?: number): Promise<SpaceClaim>;
  /** Refuses content that does not fit on the disk, regardless of other promises. Writes no row, because the disk may be full. */
  mustFit(expected: number | undefined, writtenBytes?: number): void;
  free(): Promise<number>;
}

/** How often a running upload checks the disk, and the increment of a share, in bytes. */
const stride = 64 * 1024 * 1024;
/** A share is reduced when it exceeds the need by this much. */
const tooMuch = 4 * stride;

/** Bytes that an unprivileged process may still write on the file system of `directory`. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Bytes of the whole file system of `directory`. */
export function diskBytes(directory: string): number {
  const { blocks, bsize } = statfsSync(directory);
  return blocks * bsize;
}

interface UploadReservation {
  promised: number;
  written: number;
}

export interface DiskSpaceOptions {
  /** Bytes at the end of the disk that are never promised. */
  reserve: number;
  /** How many bytes are free on the disk; synchronous. */
  freeOnDisk: () => number;
  shares: Shares;
}

/**
 * Never lets the promises of all processes together come within `reserve` bytes of the end of the disk. A running write
 * counts twice for a moment, as used and as promised, which is safe.
 */
export class SharedDiskSpace implements Space {
  readonly #options: DiskSpaceOptions;
  readonly #claims = new Set<UploadReservation>();
  /** One promise at a time, each based on the earlier ones. */
  readonly #inTurn = createConcurrencyLimit({ concurrency: 1 });
  /** How much this process may still write, according to its row. */
  #share = 0;
  /** How much of the share is left: never less than the promises. */
  #left = 0;
  /** Total bytes written. */
  #written = 0;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  async free(): Promise<number> {
    const others = sumHeld(await this.#options.shares.others(), 'space');
    return this.#room() - this.#owed() - others;
  }

  mustFit(expected: number | undefined, writtenBytes = 0): void {
    const needed = owedTo({ promised: expected ?? writtenBytes, written: writtenBytes });
    const free = this.#room() - this.#owed();
    if (free < needed) throw notEnoughSpace({ needed, free });
  }

  async claim(expected: number | undefined, writtenBytes = 0): Promise<SpaceClaim> {
    const claim = { promised: writtenBytes, written: writtenBytes };
    await this.#promise(claim, expected ?? writtenBytes);
    let lookAgainAt = writtenBytes;
    return {
      wrote: async (size) => {
        this.#use(claim, size);
        if (size < lookAgainAt) return;
        lookAgainAt = size + stride;
        await this.#promise(claim, expected ?? lookAgainAt);
      },
      release: async () => {
        this.#claims.delete(claim);
        // The sender is done and must not see this error; the share is reduced another time.
        await this.#inTurn(() => this.#shrink()).catch(() => undefined);
      },
    };
  }

  /** Promises room for a file of `bytes` bytes in total, or refuses. */
  #promise(claim: UploadReservation, bytes: number): Promise<void> {
    return this.#inTurn(async () => {
      const needed = (): number => this.#owed() - owedTo(claim) + owedTo({ ...claim, promised: bytes });
      if (this.#room() < needed() || !(await this.#has(needed))) {
        const own = owedTo({ ...claim, promised: bytes });
        throw notEnoughSpace({ needed: own, free: (await this.free()) + owedTo(claim) });
      }
      claim.promised = bytes;
      this.#claims.add(claim);
      await this.#shrink();
    });
  }

  /** Whether this process may write this much, now or after its share has grown. */
  async #has(needed: () => number): Promise<boolean> {
    if (needed() > this.#left) await this.#hold(needed);
    return needed() <= this.#left;
  }

  async #shrink(): Promise<void> {
    if (this.#share - aimed(this.#owed()) >= tooMuch) await this.#hold(() => this.#owed());
  }

  /**
   * Holds a share of the needed bytes and a bit more: at most half of the rest, because other processes need some, too.
   * If the needed bytes are not available, the share stays as it is.
   */
  async #hold(needed: () => number): Promise<void> {
    let writtenBefore: number | undefined;
    const share = await this.#options.shares.hold('space', (others) => {
      const bytes = needed();
      const left = this.#room() - others - bytes;
      if (left < 0) return this.#share;
      writtenBefore = this.#written;
      return Math.min(aimed(bytes), bytes + Math.floor(left / 2));
    });
    this.#share = share;
    if (writtenBefore !== undefined) this.#left = share - (this.#written - writtenBefore);
  }

  /** Free bytes above the reserve. */
  #room(): number {
    return this.#options.freeOnDisk() - this.#options.reserve;
  }

  #owed(): number {
    let owed = 0;
    for (const claim of this.#claims) owed += owedTo(claim);
    return owed;
  }

  #use(claim: UploadReservation, size: number): void {
    const more = size - claim.written;
    claim.written = size;
    this.#written += more;
    this.#left -= more;
  }
}

const owedTo = ({ promised, written }: UploadReservation): number => Math.max(0, promised - written);

/** The target share of a process that has to write `needed` bytes. */
const aimed = (needed: number): number => Math.ceil(needed / stride) * stride + stride;
