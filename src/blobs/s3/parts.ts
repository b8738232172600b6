// In how many parts content is sent, or copied, and how large they are; and how many objects are listed in one answer.

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

export interface Sizes {
  /** So many bytes are sent in one request; more go in parts of at least this size. */
  single: number;
  /** So many bytes are copied in one request, which S3 does up to 5 GiB; more go in parts. */
  copied: number;
  /** The size of a part that is copied, at least. */
  copiedPart: number;
  listed: number;
}

export const usualSizes: Sizes = { single: 16 * MiB, copied: 5 * GiB, copiedPart: GiB, listed: 1000 };

/** S3 takes 10,000 parts; servers that take fewer take a thousand. */
const parts = { few: 1000, most: 10_000 };
/** As long as parts are not larger than this there are few of them: each is held in memory while it is sent. */
const largestOfFew = 64 * MiB;

export interface Part {
  /** From 1. */
  number: number;
  /** The bytes from `start` to before `end`. */
  start: number;
  end: number;
}

/** How large the parts are of content of so many bytes: whole MiB, and `least` or more. */
export function partSize(size: number, least: number, largest = largestOfFew): number {
  const inParts = (number: number): number => Math.max(least, Math.ceil(size / number / MiB) * MiB);
  const few = inParts(parts.few);
  return few <= Math.max(largest, least) ? few : Math.max(largest, inParts(parts.most));
}

export function partsOf(size: number, each: number): Part[] {
  const count = Math.max(1, Math.ceil(size / each));
  return Array.from({ length: count }, (_, nth) => ({
    number: nth + 1,
    start: nth * each,
    end: Math.min(size, (nth + 1) * each),
  }));
}
