// Reads a whole backup and verifies it against its signed manifest, without a restore.
import { CannotRestore, entryOf, type Archives } from './archives.ts';
import { proven } from './restore.ts';
import { NotWhole } from './tar.ts';

/** A file of a backup that is corrupt or unreadable. */
export interface BadFile {
  /** Its name within the archive, such as `larder.db` or `blobs/ab12…`. */
  name: string;
  why: 'damaged' | 'unreadable';
}

export interface ArchiveVerdict {
  bad: BadFile[];
  /** Number of files and blobs that were read. */
  read: number;
  /** Number of blobs in earlier backups that were not given. */
  elsewhere: number;
}

/**
 * Reads everything in these archives. Throws NotWhole if the manifest names something that they do not contain, and the reason of `signal`
 * when it is aborted.
 */
export async function checkArchives(
  { file, tar, manifest, find }: Archives,
  progress: (step: string, done: number, total: number) => void,
  signal?: AbortSignal,
): Promise<ArchiveVerdict> {
  const bad: BadFile[] = [];
  const holders = manifest.blobs.map((blob) => ({ blob, found: find(blob) }));
  const total = [...manifest.files, ...holders.filter(({ found }) => found).map(({ blob }) => blob)].reduce(
    (sum, { size }) => sum + size,
    0,
  );
  let [read, bytes] = [0, 0];
  const readOne = async (what: Parameters<typeof proven>[0]): Promise<void> => {
    try {
      for await (const chunk of proven({ ...what, signal })) progress('reading back', (bytes += chunk.length), total);
    } catch (error) {
      bad.push({ name: what.entry.name, why: whyOf(error) });
    }
    read += 1;
  };
  for (const { name, size, sha256 } of manifest.files) {
    await readOne({ tar, file, entry: entryOf(file, tar, name, size), algorithm: 'sha256', digest: sha256 });
  }
  for (const { blob, found } of holders) {
    if (found) await readOne({ ...found, file, algorithm: 'sha3-384', digest: blob.sha3_384 });
  }
  return { bad, read, elsewhere: holders.filter(({ found }) => found === undefined).length };
}

function whyOf(error: unknown): BadFile['why'] {
  if (error instanceof CannotRestore || error instanceof NotWhole) return 'damaged';
  if (error instanceof Error && 'syscall' in error) return 'unreadable';
  throw error;
}
