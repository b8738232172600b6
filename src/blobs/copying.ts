// Copies what lies in files that are open, and digests it on the way: a thread reads it, so that no byte of it passes the event loop.
import type { Now } from '#domain/clock.ts';
import type { DigestAlgorithm, DigestPool, Digests } from './digests.ts';
import type { FileRanges } from './file-ranges.ts';

export interface Copying<A extends DigestAlgorithm> {
  ranges: FileRanges;
  /** How many bytes they have together. */
  size: number;
  /** Whether what they come to was opened to be written past the page cache. */
  direct?: boolean;
  /** Says what time it bears in the end; left out, when it was written last. */
  time?: Now;
  algorithms: readonly A[];
  /** Told how many bytes are written; what it throws ends the copy. */
  wrote?: (size: number) => Promise<void>;
  signal: AbortSignal;
}

/** So much is copied between two looks at what `wrote` and `signal` say. */
const stride = 4 * 1024 * 1024;

/** A file ends before what is copied of it does. */
export class CutOff extends Error {
  constructor() {
    super('a file is cut off that is copied');
  }
}

/**
 * Writes an empty file; throws `CutOff`. An error of reading or writing is thrown as the system gave it, with its code, and
 * `read` or `write` as its `syscall`.
 */
export async function copyRanges<A extends DigestAlgorithm>(
  to: number,
  { ranges, size, direct = false, time, algorithms, wrote, signal }: Copying<A>,
  digests: Pick<DigestPool, 'copy'>,
): Promise<Digests<A>> {
  const copy = digests.copy(to, algorithms, { direct });
  let found: Digests<A> | undefined;
  try {
    let end = 0;
    for await (const range of ranges) {
      copy.from(range.descriptor, range.offset);
      for (let left = range.size; left > 0;) {
        signal.throwIfAborted();
        const some = Math.min(left, stride);
        [left, end] = [left - some, end + some];
        // Of the last bytes, which are all of a small file, one message is sent, and one comes.
        if (end < size) await copy.grown(end);
        else found = await copy.end(end, time?.());
        if (copy.size < end) throw new CutOff();
        await wrote?.(end);
      }
    }
    return found ?? (await copy.end(end, time?.()));
  } catch (error) {
    throw reasonOf(error);
  } finally {
    copy.abandon();
  }
}

/** What the system said, where it said something. */
function reasonOf(error: unknown): unknown {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error && (cause as NodeJS.ErrnoException).code !== undefined ? cause : error;
}
