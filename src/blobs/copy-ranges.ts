// Copies ranges of open files and computes their digests in a worker thread, so that the bytes do not pass through the
// event loop.
import type { Now } from '#domain/clock.ts';
import type { DigestAlgorithm, DigestPool, DigestsByAlgorithm } from './digests.ts';
import type { FileRanges } from './file-ranges.ts';

export interface RangeCopyOptions<A extends DigestAlgorithm> {
  ranges: FileRanges;
  /** The total number of bytes. */
  size: number;
  /** Whether the target file was opened for direct I/O. */
  direct?: boolean;
  /** Returns the modification time to set at the end; if absent, the file keeps the time of its last write. */
  time?: Now;
  algorithms: readonly A[];
  /** Called with the number of bytes written so far; if it throws, the copy ends. */
  wrote?: (size: number) => Promise<void>;
  signal: AbortSignal;
}

/** Bytes between two checks of `wrote` and `signal`. */
const stride = 4 * 1024 * 1024;

/** A file ends before the range to copy does. */
export class TruncatedSource extends Error {
  constructor() {
    super('a file became shorter while it was copied');
  }
}

/**
 * Fills an empty file. Throws `TruncatedSource`. Errors of reading and writing are thrown as the system gave them, with their
 * code and `read` or `write` as `syscall`.
 */
export async function copyRanges<A extends DigestAlgorithm>(
  to: number,
  { ranges, size, direct = false, time, algorithms, wrote, signal }: RangeCopyOptions<A>,
  digests: Pick<DigestPool, 'copy'>,
): Promise<DigestsByAlgorithm<A>> {
  const copy = digests.copy(to, algorithms, { direct });
  let copiedDigests: DigestsByAlgorithm<A> | undefined;
  try {
    let end = 0;
    for await (const range of ranges) {
      copy.from(range.descriptor, range.offset);
      for (let left = range.size; left > 0;) {
        signal.throwIfAborted();
        const some = Math.min(left, stride);
        [left, end] = [left - some, end + some];
        // The last stride, which is all of a small file, takes one message and one reply.
        if (end < size) await copy.grown(end);
        else copiedDigests = await copy.end(end, time?.());
        if (copy.size < end) throw new TruncatedSource();
        await wrote?.(end);
      }
    }
    return copiedDigests ?? (await copy.end(end, time?.()));
  } catch (error) {
    throw reasonOf(error);
  } finally {
    copy.abandon();
  }
}

/** The error of the system, if there is one. */
function reasonOf(error: unknown): unknown {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error && (cause as NodeJS.ErrnoException).code !== undefined ? cause : error;
}
