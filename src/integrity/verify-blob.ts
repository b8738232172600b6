// Verifies whether a blob has its digest. A read error proves nothing. A blob is corrupt if it was read completely twice, the second time
// past the page cache, and had a wrong digest both times.
import { withFile, type Blobs, type StoredBlob } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { Refusal } from '#domain/refusal.ts';
import { isShortage } from '#platform/system-errors.ts';

export type BlobVerdict =
  /** `misread` if the blob is intact only past the page cache: its pages in memory are corrupt. */
  | { verdict: 'good'; misread: boolean }
  | { verdict: 'damaged' }
  /** Could not be read, twice; `cause` says why. */
  | { verdict: 'unreadable'; cause: unknown }
  /** The blob was removed during the check, or `goOn` returned false. */
  | { verdict: 'unknown' };

/** Called after each stride with the bytes and milliseconds that it took. Returns false to end the reading. */
export type ReadContinuation = (bytes: number, milliseconds: number) => Promise<boolean> | boolean;

/** Bytes between two calls of `goOn`. */
export const strideBytes = 4 * 1024 * 1024;

/** Verifies the blob of this digest in `where`: the blobs in service, or those in quarantine. */
export async function verifyBlob(
  { sha3_384 }: Pick<StoredBlob, 'sha3_384'>,
  where: Pick<Blobs, 'makeLocalCopy' | 'stat'>,
  digests: DigestPool,
  goOn: ReadContinuation = () => true,
): Promise<BlobVerdict> {
  let wrong = 0;
  for (let unread = 0; ;) {
    try {
      // A file of another size may have replaced it since the last read.
      const stored = await where.stat(sha3_384);
      if (stored === undefined) return { verdict: 'unknown' };
      const direct = wrong + unread > 0;
      const digest = await withFile(where, sha3_384, (file) => digestOf(file, stored.size, { digests, direct, goOn }));
      if (digest === undefined) return { verdict: 'unknown' };
      if (digest === sha3_384) return { verdict: 'good', misread: wrong > 0 };
      if (++wrong === 2) return { verdict: 'damaged' };
    } catch (cause) {
      if (++unread === 2) return { verdict: 'unreadable', cause };
    }
  }
}

/**
 * Returns whether a failed read says nothing about the disk: a resource ran out, the reading thread ended, or the S3 server does not
 * respond.
 */
export const isOurs = (cause: unknown): boolean => {
  if (cause instanceof Refusal) return true;
  const code = codeOf(cause);
  return code === undefined || isShortage(code);
};

const codeOf = (error: unknown): string | undefined => {
  const { code, cause } = error as NodeJS.ErrnoException;
  return code ?? (cause as NodeJS.ErrnoException | undefined)?.code;
};

async function digestOf(
  path: string,
  size: number,
  { digests, direct, goOn }: { digests: DigestPool; direct: boolean; goOn: ReadContinuation },
): Promise<string | undefined> {
  const file = digests.follow(path, ['sha3-384'], { direct });
  try {
    for (let end = 0; end < size;) {
      const before = performance.now();
      const bytes = Math.min(strideBytes, size - end);
      end += bytes;
      await file.grown(end);
      if (!(await goOn(bytes, performance.now() - before))) return undefined;
    }
    return (await file.end())['sha3-384'];
  } finally {
    file.abandon();
  }
}
