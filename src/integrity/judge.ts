// Whether a blob still has its digest. An error of reading proves nothing: damaged is what was read whole, twice, the second
// time past the page cache, and had another digest both times.
import { withFile, type Blobs, type StoredBlob } from '#blobs/blobs.ts';
import type { DigestPool } from '#blobs/digests.ts';
import { Refusal } from '#domain/refusal.ts';
import { isShortage } from '#src/system-errors.ts';

export type Judgement =
  /** `misread` when it was good only past the page cache: what is in the machine's memory of it is not. */
  | { verdict: 'good'; misread: boolean }
  | { verdict: 'damaged' }
  /** Could not be read, twice; `cause` says why. */
  | { verdict: 'unreadable'; cause: unknown }
  /** It went away meanwhile, or `goOn` said no. */
  | { verdict: 'unknown' };

/** Told after each stretch how many bytes were read in how many milliseconds; false ends the reading. */
export type GoOn = (bytes: number, milliseconds: number) => Promise<boolean> | boolean;

/** How much is read between two looks at the clock. */
export const stride = 4 * 1024 * 1024;

/** Judges what `where` has under this digest: the blobs in service, or those in quarantine. */
export async function judge(
  { sha3_384 }: Pick<StoredBlob, 'sha3_384'>,
  where: Pick<Blobs, 'borrow' | 'stat'>,
  digests: DigestPool,
  goOn: GoOn = () => true,
): Promise<Judgement> {
  let wrong = 0;
  for (let unread = 0; ;) {
    try {
      // A file of another size may have come into its place since it was read last.
      const there = await where.stat(sha3_384);
      if (there === undefined) return { verdict: 'unknown' };
      const direct = wrong + unread > 0;
      const found = await withFile(where, sha3_384, (file) => digestOf(file, there.size, { digests, direct, goOn }));
      if (found === undefined) return { verdict: 'unknown' };
      if (found === sha3_384) return { verdict: 'good', misread: wrong > 0 };
      if (++wrong === 2) return { verdict: 'damaged' };
    } catch (cause) {
      if (++unread === 2) return { verdict: 'unreadable', cause };
    }
  }
}

/**
 * Whether a failed reading says nothing of the disk: there was too little of something, the thread that read ended, or the server
 * that has the blobs does not answer.
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
  { digests, direct, goOn }: { digests: DigestPool; direct: boolean; goOn: GoOn },
): Promise<string | undefined> {
  const file = digests.follow(path, ['sha3-384'], { direct });
  try {
    for (let end = 0; end < size;) {
      const before = performance.now();
      const bytes = Math.min(stride, size - end);
      end += bytes;
      await file.grown(end);
      if (!(await goOn(bytes, performance.now() - before))) return undefined;
    }
    return (await file.end())['sha3-384'];
  } finally {
    file.abandon();
  }
}
