// Computes the number and size of parts for sending and copying, and the page size of lists.

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

export interface S3Sizes {
  /** Content up to this many bytes is sent in one request; larger content in parts of at least this size. */
  single: number;
  /** Content up to this many bytes is copied in one request (S3 allows 5 GiB); larger content in parts. */
  copied: number;
  /** The minimum size of a part that is copied. */
  copiedPart: number;
  listed: number;
}

export const defaultSizes: S3Sizes = { single: 16 * MiB, copied: 5 * GiB, copiedPart: GiB, listed: 1000 };

/** S3 accepts 10,000 parts; some servers accept only 1,000. */
const parts = { few: 1000, most: 10_000 };
/** Up to this part size few parts are used: each part is in memory while it is sent. */
const largestOfFew = 64 * MiB;

export interface ObjectPart {
  /** Counted from 1. */
  number: number;
  /** The bytes from `start` to before `end`. */
  start: number;
  end: number;
}

/** The part size for content of `size` bytes: whole MiB, at least `minSize`. */
export function partSize(size: number, minSize: number, maxSize = largestOfFew): number {
  const inParts = (number: number): number => Math.max(minSize, Math.ceil(size / number / MiB) * MiB);
  const few = inParts(parts.few);
  return few <= Math.max(maxSize, minSize) ? few : Math.max(maxSize, inParts(parts.most));
}

export function partsOf(size: number, each: number): ObjectPart[] {
  const count = Math.max(1, Math.ceil(size / each));
  return Array.from({ length: count }, (_, nth) => ({
    number: nth + 1,
    start: nth * each,
    end: Math.min(size, (nth + 1) * each),
  }));
}
