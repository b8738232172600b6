// Keeps uploads from filling the disk: what running uploads were promised counts as used before it is written, also what
// other processes of the store have promised theirs.
//
// Of the disk each process holds a share, which says how much it may still write. A share is a row; it is larger than
// what is promised by some 64 MiB, so that many small uploads cost one row together. Writing uses the share up, and the
// row follows now and then: what it says too much errs on the safe side.
import { statfsSync } from 'node:fs';

import { noRoom } from '#domain/disk-full.ts';
import { limit } from '#domain/limit.ts';
import { heldOf, type Shares } from './shares.ts';

/** The space one upload was promised. */
export interface SpaceClaim {
  /** The file has `size` bytes now. Refuses when the disk became too full to go on. */
  wrote(size: number): Promise<void>;
  release(): Promise<void>;
}

export interface Space {
  /**
   * Promises room for a file of `expected` bytes, or refuses; `there` are written already. Without an announcement the
   * promise grows with what is written.
   */
  claim(expected: number | undefined, there?: number): Promise<SpaceClaim>;
  /** Refuses what does not fit on the disk whoever else writes there; on a full disk no row is written for that. */
  mustFit(expected: number | undefined, there?: number): void;
  free(): Promise<number>;
}

/** How often a running upload looks at the disk again, and in what steps a share grows, in bytes. */
const stride = 64 * 1024 * 1024;
/** A share that is larger than it need be by so much is made smaller. */
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

interface Claim {
  promised: number;
  written: number;
}

export interface DiskSpaceOptions {
  /** Bytes at the end of the disk that nobody is promised. */
  reserve: number;
  /** How many bytes the disk takes now; answers at once. */
  freeOnDisk: () => number;
  shares: Shares;
}

/**
 * Never lets the sum of what was promised, by all processes together, come below `reserve` bytes from the end of the disk.
 * A write that is under way counts twice for a moment, as used and as promised, which errs on the safe side.
 */
export class DiskSpace implements Space {
  readonly #options: DiskSpaceOptions;
  readonly #claims = new Set<Claim>();
  /** One promise at a time, each of them on what was promised before. */
  readonly #inTurn = limit({ atOnce: 1 });
  /** What the row of this process says that it may still write. */
  #share = 0;
  /** How much of that is left: never less than what is promised. */
  #left = 0;
  /** Bytes that were written in all. */
  #written = 0;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  async free(): Promise<number> {
    const others = heldOf(await this.#options.shares.others(), 'space');
    return this.#room() - this.#owed() - others;
  }

  mustFit(expected: number | undefined, there = 0): void {
    const needed = owedTo({ promised: expected ?? there, written: there });
    const free = this.#room() - this.#owed();
    if (free < needed) throw noRoom({ needed, free });
  }

  async claim(expected: number | undefined, there = 0): Promise<SpaceClaim> {
    const claim = { promised: there, written: there };
    await this.#promise(claim, expected ?? there);
    let lookAgainAt = there;
    return {
      wrote: async (size) => {
        this.#use(claim, size);
        if (size < lookAgainAt) return;
        lookAgainAt = size + stride;
        await this.#promise(claim, expected ?? lookAgainAt);
      },
      release: async () => {
        this.#claims.delete(claim);
        // Whoever has sent his file has nothing to do with it: it is made smaller another time.
        await this.#inTurn(() => this.#shrink()).catch(() => undefined);
      },
    };
  }

  /** Promises room for a file of so many bytes in all, or refuses. */
  #promise(claim: Claim, bytes: number): Promise<void> {
    return this.#inTurn(async () => {
      const needed = (): number => this.#owed() - owedTo(claim) + owedTo({ ...claim, promised: bytes });
      if (this.#room() < needed() || !(await this.#has(needed))) {
        const own = owedTo({ ...claim, promised: bytes });
        throw noRoom({ needed: own, free: (await this.free()) + owedTo(claim) });
      }
      claim.promised = bytes;
      this.#claims.add(claim);
      await this.#shrink();
    });
  }

  /** Whether this process may write so much, now or when its share has grown. */
  async #has(needed: () => number): Promise<boolean> {
    if (needed() > this.#left) await this.#hold(needed);
    return needed() <= this.#left;
  }

  async #shrink(): Promise<void> {
    if (this.#share - aimed(this.#owed()) >= tooMuch) await this.#hold(() => this.#owed());
  }

  /**
   * Holds a share of what is needed and a bit more: of what is left then at most half, for others come as well. Where there
   * is no room for what is needed the old share stays.
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

  /** Bytes above the reserve. */
  #room(): number {
    return this.#options.freeOnDisk() - this.#options.reserve;
  }

  #owed(): number {
    let owed = 0;
    for (const claim of this.#claims) owed += owedTo(claim);
    return owed;
  }

  #use(claim: Claim, size: number): void {
    const more = size - claim.written;
    claim.written = size;
    this.#written += more;
    this.#left -= more;
  }
}

const owedTo = ({ promised, written }: Claim): number => Math.max(0, promised - written);

/** The share that a process with so much to write should have. */
const aimed = (needed: number): number => Math.ceil(needed / stride) * stride + stride;
