// Blobs are bytes stored under the digest of their content. This file declares the interface to them, for every engine.
import type { Readable } from 'node:stream';

import type { FileRanges } from './file-ranges.ts';

/** Chunks of bytes, in the order of receipt. */
export type Chunks = readonly Uint8Array[];

/** Adapts a stream of single chunks to a source of content. */
export async function* toChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Chunks> {
  for await (const chunk of source) yield [chunk];
}

export function lengthOf(chunks: Chunks): number {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  return length;
}

/** Sizes and digests of received bytes; the bytes are durable. */
export interface ReceivedBlob {
  size: number;
  sha3_384: string;
  sha256: string;
  /** Present if `wantsSha512` returned true. */
  sha512?: string;
}

export interface StoredBlob {
  sha3_384: string;
  size: number;
  /** The time of the last receipt; receiving the same content again renews it. */
  storedAt: Date;
}

/** Bytes from `start` to `end`, both inclusive and counted from 0, as in an HTTP range. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface BlobReceiveOptions {
  /** Names the upload; it is never used again afterwards. */
  id: string;
  /** The sender; uploads of one sender are counted together. If undefined, the upload is counted by itself. */
  from?: string | undefined;
  /** The maximum number of bytes. */
  limit: number;
  /** The maximum number of bytes that the sender announced; that much disk space is reserved for them. */
  expected?: number | undefined;
  /** Whether this upload alone uses the chunks: their memory is then freed as soon as they are written. */
  ownsChunks?: boolean | undefined;
  /** The number of bytes already present, from an earlier upload with this id that ended with `UploadHandedOver`. */
  resume?: number | undefined;
  /** Called when all bytes have been received: whether the sha512 is needed as well. The file is read a second time for it. */
  wantsSha512?: (() => boolean) | undefined;
  /** Called with the digests before the content moves to its final path. If it throws, the content is refused and removed. */
  accept?: ((taken: ReceivedBlob) => void) | undefined;
}

export interface CopyInOptions {
  /** Names the copy; it is never used again afterwards. */
  id: string;
  /** The size and digests that the bytes must have. */
  expected: Pick<ReceivedBlob, 'size' | 'sha3_384' | 'sha256'>;
  /** The maximum number of bytes. */
  limit: number;
  /** Returns the error to throw if the size or a digest differs. */
  wrong: () => Error;
  /** Cancels the copy; nothing of it is left. */
  signal: AbortSignal;
}

/** Thrown by a source if another process continues the upload: the received bytes stay. */
export class UploadHandedOver extends Error {
  constructor() {
    super('another process continues this upload');
  }
}

export interface Blobs {
  /**
   * Receives a stream. Resolves when the bytes survive a power cut. If it rejects, nothing of them is left, except
   * after `UploadHandedOver`. An upload that sends no chunks at all makes the bytes received before visible to every
   * process.
   */
  receive(source: AsyncIterable<Chunks>, options: BlobReceiveOptions): Promise<ReceivedBlob>;
  /**
   * Receives bytes from files that this process has open. When it resolves, the bytes survive a power cut; their path
   * does after a later call of `placed` has resolved, so that many contents share the cost.
   */
  copyIn(ranges: FileRanges, options: CopyInOptions): Promise<void>;
  /** Resolves when everything that `copyIn` has received before is durable at its final path. */
  placed(): Promise<void>;
  /** Receives a few bytes, such as an icon. */
  put(bytes: Uint8Array, options: { id: string }): Promise<ReceivedBlob>;

  stat(sha3_384: string): Promise<StoredBlob | undefined>;
  /**
   * Returns a stream of the content, or of a range, and the size of the whole content. Read the stream to its end or
   * destroy it. Content that was not read completely in the last 24 hours, or that changed since, is verified against
   * its digest. A whole content is verified while it is sent: if it is corrupt, the last bytes are not sent and the
   * stream fails. A range is verified before its first byte is sent.
   */
  open(sha3_384: string, range?: ByteRange): Promise<{ size: number; stream: Readable } | undefined>;
  /**
   * Returns an address that lets its holder read the content from the S3 server for five minutes; until then it is a
   * secret. The bytes read there are not verified. Browsers save the file as `fileName`, which must be safe in a quoted
   * string. Absent if content is stored on a disk.
   */
  addressOf?(sha3_384: string, fileName: string): Promise<{ size: number; address: URL } | undefined>;
  /**
   * Lets the group of the store's user read the content, for a program that sends it to a client. Returns its size, and its path below
   * `blobs/sha3`. Undefined if it must be verified first: a call of `open` does that. Absent if content is stored in S3.
   */
  share?(sha3_384: string): Promise<{ size: number; path: string } | undefined>;
  /**
   * Whether the content exists and matches its digest. It is read for that, unless it was verified before and has not
   * changed.
   */
  prove(sha3_384: string): Promise<boolean>;
  /**
   * Gives the content as a local file, for a thread or a program that reads files; call `prove` first. If the content
   * does not exist, opening the file fails with ENOENT. See `withFile`.
   */
  makeLocalCopy(sha3_384: string): Promise<LocalCopy>;
  /**
   * Lists every content. If a part of the list cannot be read, calls `unread` and continues, or throws if there is no
   * `unread`.
   */
  list(unread?: (error: Error) => void): AsyncIterable<StoredBlob>;
  /** Returns false if it did not exist, or was received again at or after the given time. */
  remove(sha3_384: string, options?: { storedBefore?: Date | undefined }): Promise<boolean>;

  /** Puts corrupt content into quarantine; its bytes stay there for inspection. Returns false if it did not exist. */
  quarantine(sha3_384: string): Promise<boolean>;
  quarantined: Quarantine;
  /** Moves content out of quarantine to its path and replaces the content there; its time of receipt is now. */
  restoreQuarantined(sha3_384: string): Promise<void>;

  /** Removes temporary files of processes that have ended, unless `isLive` claims them. Returns how many it removed. */
  sweepTemporary(isLive: UploadLiveness): Promise<number>;
  /** Bytes that may still be written: the reserve and the promises to running uploads are already subtracted. */
  free(): Promise<number>;
  /** Size of the whole disk in bytes. */
  capacity(): Promise<number>;
}

/** Content in quarantine, by the digest that it should have. */
export interface Quarantine extends Pick<Blobs, 'makeLocalCopy' | 'stat' | 'list'> {
  /**
   * Adds a file from the quarantine of the place where the blobs were before, as it is, and replaces the file there;
   * durable when it resolves.
   */
  add(sha3_384: string, file: string): Promise<void>;
}

/**
 * Whether an upload is still being received. `changed` returns when its file last grew, or undefined if the file no
 * longer exists.
 */
export type UploadLiveness = (id: string, changed: () => Promise<Date | undefined>) => boolean | Promise<boolean>;

/** A content as a local file: the blob itself or a copy. It may be read, not changed, until `release` is called. */
export interface LocalCopy {
  file: string;
  release(): Promise<void>;
}

/** Gives the content as a local file while `work` runs. */
export async function withFile<Result>(
  blobs: Pick<Blobs, 'makeLocalCopy'>,
  sha3_384: string,
  work: (file: string) => Promise<Result>,
): Promise<Result> {
  return withFiles(blobs, [sha3_384], ([file = '']) => work(file));
}

/** Like `withFile`, for several contents. */
export async function withFiles<Result>(
  blobs: Pick<Blobs, 'makeLocalCopy'>,
  digests: readonly string[],
  work: (files: readonly string[]) => Promise<Result>,
): Promise<Result> {
  const localCopies: LocalCopy[] = [];
  try {
    for (const sha3_384 of digests) localCopies.push(await blobs.makeLocalCopy(sha3_384));
    return await work(localCopies.map(({ file }) => file));
  } finally {
    for (const localCopy of localCopies) await localCopy.release();
  }
}

const digestForm = /^[0-9a-f]{96}$/;

/** A digest becomes part of a path. Anything but 96 hexadecimal digits is a programming error. */
export function requireDigest(sha3_384: string): string {
  if (!digestForm.test(sha3_384)) throw new Error('the name of a blob must be its sha3-384 in hexadecimal');
  return sha3_384;
}
