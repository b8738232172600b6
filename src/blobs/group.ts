// Receives small contents as a group: a thread copies one after the other, and while a group is made durable it
// continues with the next. A group costs one message and one reply, and waits for durability once.
//
// Each content gets its path only when its bytes are durable and match their digests. A process that is killed leaves
// temporary files, and complete contents at their paths that no record names yet.
import * as fs from 'node:fs';

import { beginCopy, copyOn, finishCopy, type CopyDisk } from './copied.ts';
import type { FileRange } from './file-ranges.ts';
import { identityIn } from './identity.ts';

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

export interface GroupHow {
  /** Whether it is written past the page cache. */
  direct: boolean;
  /** The time of receipt of all of them. */
  time: Date;
}

/** The result for one content: the identity of its file, a mismatch of its digest, or an error of the system. */
export type GroupedResult = { identity: string } | Wrong | Failed;

interface Wrong {
  wrong: true;
}

interface Failed {
  failed: string;
  code: string | undefined;
  syscall: string | undefined;
}

/** Receives all of them; nothing is left of a content that fails. */
export async function takeGroup(
  contents: readonly GroupedContent[],
  how: GroupHow,
  disk: GroupDisk = fs,
): Promise<GroupedResult[]> {
  const written = contents.map((content) => attempt(() => write(content, how, disk)));
  // The files are synced concurrently: one commit of the file system's journal serves many of them.
  const synced = await Promise.all(written.map(async (one) => ('file' in one ? sync(one.file, disk) : one)));
  return contents.map((content, at) => {
    const one = synced[at]!;
    if ('wrong' in one) return one;
    const result = 'durable' in one ? attempt(() => settle(content, disk)) : one;
    // If the file could not even be created, it may belong to another upload, so it stays.
    return 'identity' in result || !('file' in written[at]!) ? result : withoutTraces(content, result, disk);
  });
}

/** Fills the temporary file. A correct file stays open; a wrong one is removed. */
function write(
  content: GroupedContent,
  { direct, time }: GroupHow,
  disk: GroupDisk,
): { file: number } | Wrong | Failed {
  const { temporaryFile, ranges, sha3_384, sha256 } = content;
  const file = disk.openSync(temporaryFile, O_CREAT | O_EXCL | O_WRONLY | (direct ? O_DIRECT : 0), 0o600);
  const found = attempt(() => {
    const copy = beginCopy(file, ['sha3-384', 'sha256'], direct);
    let end = 0;
    for (const { descriptor, offset, size } of ranges) {
      Object.assign(copy, { from: descriptor, offset });
      copyOn(copy, (end += size), disk);
    }
    finishCopy(copy, time, disk);
    return copy.hashes.map((hash) => hash.digest('hex'));
  });
  // Content that is cut off has other digests, too.
  if (Array.isArray(found) && found[0] === sha3_384 && found[1] === sha256) return { file };
  disk.closeSync(file);
  return withoutTraces(content, Array.isArray(found) ? { wrong: true } : found, disk);
}

function sync(file: number, disk: GroupDisk): Promise<{ durable: true } | Failed> {
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

function attempt<Result>(work: () => Result): Result | Failed {
  try {
    return work();
  } catch (error) {
    return failed(error as NodeJS.ErrnoException);
  }
}

/** The code of an error is a separate field, because an error loses it when it is sent between threads. */
const failed = ({ message, code, syscall }: NodeJS.ErrnoException): Failed => ({ failed: message, code, syscall });

/** Removes the temporary file of a content that failed. */
function withoutTraces<Why extends Wrong | Failed>(content: GroupedContent, why: Why, disk: GroupDisk): Why | Failed {
  const removed = attempt(() => disk.unlinkSync(content.temporaryFile));
  return removed === undefined || removed.code === 'ENOENT' ? why : removed;
}
