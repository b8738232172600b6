// Reads a whole backup and verifies it against its signed manifest, without a restore.
import { CannotRestore, entryOf, type Archives } from './archives.ts';
import { readVerified } from './restore.ts';
import { NotWhole } from './tar.ts';

/** A file of a backup that is corrupt or unreadable. */
export interface BadFile {
  /** Its name within the archive, such as `larder.db` or `blobs/ab12…`. */
  name: string;
  reason: 'damaged' | 'unreadable';
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
  const total = [...manifest.files, ...holders.filter(({ found: source }) => source).map(({ blob }) => blob)].reduce(
    (sum, { size }) => sum + size,
    0,
  );
  let [read, bytes] = [0, 0];
  const readOne = async (item: Parameters<typeof readVerified>[0]): Promise<void> => {
    try {
      for await (const chunk of readVerified({ ...item, signal }))
        progress('reading back', (bytes += chunk.length), total);
    } catch (error) {
      bad.push({ name: item.entry.name, reason: whyOf(error) });
    }
    read += 1;
  };
  for (const { name, size, sha256 } of manifest.files) {
    await readOne({ tar, file, entry: entryOf(file, tar, name, size), algorithm: 'sha256', digest: sha256 });
  }
  for (const { blob, found: source } of holders) {
    if (source) await readOne({ ...source, file, algorithm: 'sha3-384', digest: blob.sha3_384 });
  }
  return { bad, read, elsewhere: holders.filter(({ found: source }) => source === undefined).length };
}

function whyOf(error: unknown): BadFile['reason'] {
  if (error instanceof CannotRestore || error instanceof NotWhole) return 'damaged';
  if (error instanceof Error && 'syscall' in error) return 'unreadable';
  throw error;
}
