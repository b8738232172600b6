// Blobs are bytes kept under the digest of their content. This is what the rest of the store knows about them,
// whatever they are kept on.
import type { Readable } from 'node:stream';

import type { FileRanges } from './file-ranges.ts';

/** Bytes in the pieces in which they came, one after the other. */
export type Chunks = readonly Uint8Array[];

/** The same bytes, as a source of content is asked for them. */
export async function* oneByOne(source: AsyncIterable<Uint8Array>): AsyncGenerator<Chunks> {
  for await (const chunk of source) yield [chunk];
}

export function lengthOf(chunks: Chunks): number {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  return length;
}

/** What is known of bytes that were taken in: they are durable from here on. */
export interface TakenBlob {
  size: number;
  sha3_384: string;
  sha256: string;
  /** Where it was asked for. */
  sha512?: string;
}

export interface StoredBlob {
  sha3_384: string;
  size: number;
  /** When its content was last taken in; taking in the same content again renews it. */
  storedAt: Date;
}

/** Bytes from `start` to `end`, both included and counted from 0, as in an HTTP range. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface ReceiveOptions {
  /** Names the bytes while they come in; never used again afterwards. */
  id: string;
  /** Who sends, as far as his uploads are counted together; nobody else's when it is not said. */
  from?: string | undefined;
  /** How many bytes are accepted at most. */
  limit: number;
  /** How many bytes the sender announced at most; that much space is kept free for them. */
  expected?: number | undefined;
  /** Whether nobody else looks at the chunks any more: their memory is then given back as soon as they are written. */
  ownsChunks?: boolean | undefined;
  /** How many bytes lie there already, of an earlier one of this id that was left to others. */
  resume?: number | undefined;
  /** Asked when all has come: whether its sha512 is wanted as well, for which it is read once more. */
  wantsSha512?: (() => boolean) | undefined;
  /** Told what came, before it is moved to its place; what it throws refuses the content, and nothing is left. */
  accept?: ((taken: TakenBlob) => void) | undefined;
}

export interface CopyInOptions {
  /** Names the bytes while they come in; never used again afterwards. */
  id: string;
  /** What they must be. */
  expected: Pick<TakenBlob, 'size' | 'sha3_384' | 'sha256'>;
  /** How many bytes are accepted at most. */
  limit: number;
  /** What is thrown where they are not. */
  wrong: () => Error;
  /** Ends it where it is; nothing is left of it. */
  signal: AbortSignal;
}

/** What a source throws whose bytes another process goes on with: they stay where they are. */
export class LeftToOthers extends Error {
  constructor() {
    super('another process goes on with this upload');
  }
}

export interface Blobs {
  /**
   * Takes in a stream. It resolves once the bytes survive a power cut; when it rejects, nothing of them is left, unless
   * with `LeftToOthers`. After no chunks at all every process sees what came before them.
   */
  receive(source: AsyncIterable<Chunks>, options: ReceiveOptions): Promise<TakenBlob>;
  /**
   * Takes in what lies in files that are open here. When it resolves the bytes survive a power cut, and their place does
   * once `placed` has resolved that was asked after that: many of them share what that costs.
   */
  copyIn(ranges: FileRanges, options: CopyInOptions): Promise<void>;
  /** Resolves once everything that `copyIn` has taken in before is where it is for good. */
  placed(): Promise<void>;
  /** Takes in a few bytes, such as an icon. */
  put(bytes: Uint8Array, options: { id: string }): Promise<TakenBlob>;

  stat(sha3_384: string): Promise<StoredBlob | undefined>;
  /**
   * The content, or part of it, and the size of the whole. Read the stream to its end or destroy it. Content that was not
   * read whole of late, or was touched since, is held against its digest: the whole while it goes out, and of a damaged one
   * the last bytes never come, and the stream fails; a part before any of it is given.
   */
  open(sha3_384: string, range?: ByteRange): Promise<{ size: number; stream: Readable } | undefined>;
  /**
   * An address at which whoever has it may read the content for five minutes, where it lies on a server; it is a secret until then.
   * Nobody holds what is read there against its digest. Browsers save it under `fileName`, which must be safe in a quoted string.
   * Left out where content lies on a disk.
   */
  addressOf?(sha3_384: string, fileName: string): Promise<{ size: number; address: URL } | undefined>;
  /** Whether the content is there and has its digest; it is read for that unless it was before and is untouched. */
  prove(sha3_384: string): Promise<boolean>;
  /**
   * Lends the content as a file, for a thread or program that reads files; `prove` it first. What is not there is found
   * out by opening the file (ENOENT). See `withFile`.
   */
  borrow(sha3_384: string): Promise<Loan>;
  /** Everything that is there. Where part of it cannot be read this throws, or tells `unread` and goes on. */
  list(unread?: (error: Error) => void): AsyncIterable<StoredBlob>;
  /** False when it was not there, or was taken in again at or after the time given. */
  remove(sha3_384: string, options?: { storedBefore?: Date | undefined }): Promise<boolean>;

  /** Takes damaged content out of service; its bytes stay for whoever wants to look at them. False when it was not there. */
  quarantine(sha3_384: string): Promise<boolean>;
  quarantined: Quarantine;
  /** Puts back what was taken out of service, in the place of whatever is there; as if it were taken in now. */
  putBack(sha3_384: string): Promise<void>;

  /**
   * Removes what a process that is no more left half received, unless `isLive` claims it, which may ask when something came
   * for it last; how many it removed.
   */
  sweepTemporary(isLive: IsLive): Promise<number>;
  /** Bytes that may still be written, the reserve and what running uploads were promised already taken off. */
  free(): Promise<number>;
  /** Bytes that the whole disk has. */
  capacity(): Promise<number>;
}

/** What was taken out of service, by the digest that it should have. */
export interface Quarantine extends Pick<Blobs, 'borrow' | 'stat' | 'list'> {
  /** Takes in, as it is, a file that another place has taken out of service, in the place of what lies here; durable when it resolves. */
  add(sha3_384: string, file: string): Promise<void>;
}

/** Whether somebody still receives this; `changed` says when something came last, or nothing where it is not there any more. */
export type IsLive = (id: string, changed: () => Promise<Date | undefined>) => boolean | Promise<boolean>;

/** A file that is lent: the content itself or a copy. It may be read, not changed, until it is given back. */
export interface Loan {
  file: string;
  release(): Promise<void>;
}

/** Lends the content as a file for as long as `work` takes. */
export async function withFile<Result>(
  blobs: Pick<Blobs, 'borrow'>,
  sha3_384: string,
  work: (file: string) => Promise<Result>,
): Promise<Result> {
  const loan = await blobs.borrow(sha3_384);
  try {
    return await work(loan.file);
  } finally {
    await loan.release();
  }
}

const digestForm = /^[0-9a-f]{96}$/;

/** A digest becomes part of a path, so anything else than 96 hexadecimal digits is a mistake of ours. */
export function mustBeDigest(sha3_384: string): string {
  if (!digestForm.test(sha3_384)) throw new Error('cannot name a blob by anything but its sha3-384 in hexadecimal');
  return sha3_384;
}
