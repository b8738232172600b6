// Receives small contents as a group: a thread copies one after the other, and while a group is made durable it
// continues with the next. A group costs one message and one reply, and waits for durability once.
//
// Each content gets its path only when its bytes are durable and match their digests. A process that is killed leaves
// temporary files, and complete contents at their paths that no record names yet.
import * as fs from 'node:fs';

import { beginCopy, continueCopy, finishCopy, type CopyDisk } from './file-copy.ts';
import type { FileRange } from './file-ranges.ts';
import { identityIn } from './file-identity.ts';

const { O_CREAT, O_DIRECT, O_EXCL, O_WRONLY } = fs.constants;

/** The calls to the file system; a test passes its own to watch the order of writes and syncs. */
export type GroupDisk = CopyDisk &
  Pick<typeof fs, 'closeSync' | 'fsync' | 'lstatSync' | 'openSync' | 'renameSync' | 'unlinkSync'>;

export interface GroupedContent {
  /** A file that does not exist yet. */
  temporaryFile: string;
  /** The final path; a file there is replaced. */
  place: string;
  ranges: readonly FileRange[];
  /** The digest that it must have. */
  sha3_384: string;
  sha256: string;
}

export interface GroupReceiveOptions {
  /** Whether it is written past the page cache. */
  direct: boolean;
  /** The time of receipt of all of them. */
  time: Date;
}

/** The result for one content: the identity of its file, a mismatch of its digest, or an error of the system. */
export type GroupedResult = { identity: string } | DigestMismatch | GroupedFailure;

interface DigestMismatch {
  wrong: true;
}

interface GroupedFailure {
  failed: string;
  code: string | undefined;
  syscall: string | undefined;
}

/** Receives all of them; nothing is left of a content that fails. */
export async function receiveGroup(
  contents: readonly GroupedContent[],
  how: GroupReceiveOptions,
  disk: GroupDisk = fs,
): Promise<GroupedResult[]> {
  const written = contents.map((content) => attempt(() => write(content, how, disk)));
  // The files are synced concurrently: one commit of the file system's journal serves many of them.
  const synced = await Promise.all(
    written.map(async (outcome) => ('file' in outcome ? sync(outcome.file, disk) : outcome)),
  );
  return contents.map((content, at) => {
    const outcome = synced[at]!;
    if ('wrong' in outcome) return outcome;
    const result = 'durable' in outcome ? attempt(() => settle(content, disk)) : outcome;
    // If the file could not even be created, it may belong to another upload, so it stays.
    return 'identity' in result || !('file' in written[at]!) ? result : removeTemporary(content, result, disk);
  });
}

/** Fills the temporary file. A correct file stays open; a wrong one is removed. */
function write(
  content: GroupedContent,
  { direct, time }: GroupReceiveOptions,
  disk: GroupDisk,
): { file: number } | DigestMismatch | GroupedFailure {
  const { temporaryFile, ranges, sha3_384, sha256 } = content;
  const file = disk.openSync(temporaryFile, O_CREAT | O_EXCL | O_WRONLY | (direct ? O_DIRECT : 0), 0o600);
  const digests = attempt(() => {
    const copy = beginCopy(file, ['sha3-384', 'sha256'], direct);
    let end = 0;
    for (const { descriptor, offset, size } of ranges) {
      Object.assign(copy, { from: descriptor, offset });
      continueCopy(copy, (end += size), disk);
    }
    finishCopy(copy, time, disk);
    return copy.hashes.map((hash) => hash.digest('hex'));
  });
  // Truncated content has other digests, so this finds it too.
  if (Array.isArray(digests) && digests[0] === sha3_384 && digests[1] === sha256) return { file };
  disk.closeSync(file);
  return removeTemporary(content, Array.isArray(digests) ? { wrong: true } : digests, disk);
}

function sync(file: number, disk: GroupDisk): Promise<{ durable: true } | GroupedFailure> {
  return new Promise((resolve) => {
    disk.fsync(file, (error) => {
      const closed = attempt(() => disk.closeSync(file));
      resolve(error === null ? (closed ?? { durable: true }) : failed(error));
    });
  });
}

function settle({ temporaryFile, place }: GroupedContent, disk: GroupDisk): { identity: string } {
  disk.renameSync(temporaryFile, place);
  return { identity: identityIn(disk.lstatSync(place, { bigint: true })) };
}

function attempt<Result>(work: () => Result): Result | GroupedFailure {
  try {
    return work();
  } catch (error) {
    return failed(error as NodeJS.ErrnoException);
  }
}

/** The code of an error is a separate field, because an error loses it when it is sent between threads. */
const failed = ({ message, code, syscall }: NodeJS.ErrnoException): GroupedFailure => ({
  failed: message,
  code,
  syscall,
});

/** Removes the temporary file of a content that failed. */
function removeTemporary<FailureResult extends DigestMismatch | GroupedFailure>(
  content: GroupedContent,
  failure: FailureResult,
  disk: GroupDisk,
): FailureResult | GroupedFailure {
  const removed = attempt(() => disk.unlinkSync(content.temporaryFile));
  return removed === undefined || removed.code === 'ENOENT' ? failure : removed;
}
