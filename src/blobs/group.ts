// Small contents that come in together: a thread copies one after the other, and while they are made durable it goes on with
// those that come next. So many cost one message and one answer, and their durability is waited for once.
//
// Each has its place only when its bytes are durable, and only when they are what they must be; what a process leaves here
// that is killed are temporary files, and whole contents in their places of which nobody knows yet.
import * as fs from 'node:fs';

import { beginCopy, copyOn, finishCopy, type CopyDisk } from './copied.ts';
import type { FileRange } from './file-ranges.ts';
import { identityIn } from './identity.ts';

const { O_CREAT, O_DIRECT, O_EXCL, O_WRONLY } = fs.constants;

/** What this does to the disk: handed in, so that a test can watch what is durable when. */
export type GroupDisk = CopyDisk &
  Pick<typeof fs, 'closeSync' | 'fsync' | 'lstatSync' | 'openSync' | 'renameSync' | 'unlinkSync'>;

export interface GroupedContent {
  /** A file that is not there yet. */
  temporaryFile: string;
  /** Where it goes; what is there is replaced. */
  place: string;
  ranges: readonly FileRange[];
  /** What it must be. */
  sha3_384: string;
  sha256: string;
}

export interface GroupHow {
  /** Whether it is written past the page cache. */
  direct: boolean;
  /** What all of them bear as the time at which they were taken in. */
  time: Date;
}

/** What became of one: what its file is known by from now on, that it is not what it must be, or what the system said. */
export type GroupedResult = { identity: string } | Wrong | Failed;

interface Wrong {
  wrong: true;
}

interface Failed {
  failed: string;
  code: string | undefined;
  syscall: string | undefined;
}

/** Takes in all of them; of one that cannot be taken in nothing is left. */
export async function takeGroup(
  contents: readonly GroupedContent[],
  how: GroupHow,
  disk: GroupDisk = fs,
): Promise<GroupedResult[]> {
  const written = contents.map((content) => attempt(() => write(content, how, disk)));
  // What is written is sent to the disk side by side: one turn of the file system's journal serves many of them.
  const synced = await Promise.all(written.map(async (one) => ('file' in one ? sync(one.file, disk) : one)));
  return contents.map((content, at) => {
    const one = synced[at]!;
    if ('wrong' in one) return one;
    const result = 'durable' in one ? attempt(() => settle(content, disk)) : one;
    // What could not even be begun may be somebody else's.
    return 'identity' in result || !('file' in written[at]!) ? result : withoutTraces(content, result, disk);
  });
}

/** Fills the temporary file; one that is good stays open, and of another one nothing is left. */
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
  // What is cut off has other digests as well.
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

/** The code of an error is said by itself, because an error that is sent from thread to thread arrives without it. */
const failed = ({ message, code, syscall }: NodeJS.ErrnoException): Failed => ({ failed: message, code, syscall });

/** Removes what was begun of a content that cannot be taken in. */
function withoutTraces<Why extends Wrong | Failed>(content: GroupedContent, why: Why, disk: GroupDisk): Why | Failed {
  const removed = attempt(() => disk.unlinkSync(content.temporaryFile));
  return removed === undefined || removed.code === 'ENOENT' ? why : removed;
}
