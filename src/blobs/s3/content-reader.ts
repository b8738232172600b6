// Verifies content that is read, as on a disk: a whole content while it is sent, with the last piece held back until
// the digest matches; a range before its first byte is sent. The ETag and modification time of verified objects are
// remembered.
import { createDigest, type Hash } from '#domain/cryptography.ts';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

import { BoundedMap } from '#domain/bounded-map.ts';
import { hours, type Now } from '#domain/clock.ts';
import type { ByteRange } from '../blobs.ts';
import { readBody } from './read-body.ts';
import type { S3Bucket, BucketObject } from './bucket.ts';
import { contentKey } from './contents.ts';
import { BucketError, statusOf } from './errors.ts';
import { confirmAbsence, isOther } from './marker.ts';
import { runForCaller } from './requests.ts';

const validForMs = hours(24);
const maxObjects = 10_000;
/** How often to retry if the content keeps being replaced. */
const maxAttempts = 3;

export interface S3ContentReaderOptions {
  bucket: S3Bucket;
  now: Now;
  damaged: ((blob: { sha3_384: string; size: number }) => void) | undefined;
}

export class S3ContentReader {
  readonly #options: S3ContentReaderOptions;
  readonly #known = new BoundedMap<string, { etag: string; modified: number; until: number }>(maxObjects);
  /** Concurrent readers of one content wait for one verification. */
  readonly #proving = new Map<string, Promise<boolean>>();

  constructor(options: S3ContentReaderOptions) {
    this.#options = options;
  }

  /** Remembers an object after its bytes were digested. */
  remember(sha3_384: string, { etag, modified }: BucketObject): void {
    const until = this.#options.now().getTime() + validForMs;
    this.#known.set(sha3_384, { etag, modified: modified.getTime(), until });
  }

  /** Whether an object is unchanged since it matched its digest. */
  #holds(sha3_384: string, { etag, modified }: BucketObject): boolean {
    const entry = this.#known.get(sha3_384);
    const isFresh = entry !== undefined && this.#options.now().getTime() < entry.until;
    return isFresh && entry.etag === etag && entry.modified === modified.getTime();
  }

  /** Whether the content exists and matches its digest. */
  async prove(sha3_384: string): Promise<boolean> {
    return runForCaller(async () => {
      const object = await this.#look(contentKey(sha3_384));
      if (object === undefined) return false;
      if (this.#holds(sha3_384, object)) return true;
      return this.#proven(sha3_384);
    });
  }

  #proven(sha3_384: string): Promise<boolean> {
    const reading =
      this.#proving.get(sha3_384) ?? this.#readWhole(sha3_384).finally(() => this.#proving.delete(sha3_384));
    this.#proving.set(sha3_384, reading);
    return reading;
  }

  async #look(key: string): Promise<BucketObject | undefined> {
    const object = await this.#options.bucket.inspect(key);
    if (object === undefined) await confirmAbsence(this.#options.bucket);
    return object;
  }

  async #readWhole(sha3_384: string): Promise<boolean> {
    const opened = await this.open(sha3_384);
    if (opened === undefined) return false;
    try {
      await finished(opened.stream.resume());
      return true;
    } catch (error) {
      if (error instanceof DamagedContent) return false;
      throw error;
    }
  }

  async open(sha3_384: string, range?: ByteRange): Promise<{ size: number; stream: Readable } | undefined> {
    const key = contentKey(sha3_384);
    return runForCaller(async () =>
      range === undefined ? this.#openWhole(sha3_384, key) : this.#openPart(sha3_384, key, range),
    );
  }

  async #openWhole(sha3_384: string, key: string) {
    const { bucket } = this.#options;
    const opened = await bucket.read(key);
    if (opened === undefined) {
      await confirmAbsence(bucket);
      return undefined;
    }
    const { object, body } = opened;
    const hash = this.#holds(sha3_384, object) ? undefined : createDigest('content sha3-384');
    const proven = (): void => {
      if (hash === undefined) return;
      if (hash.digest('hex') !== sha3_384) throw this.#damaged(sha3_384, object);
      this.remember(sha3_384, object);
    };
    return { size: object.size, stream: this.#sent(body, object.size, hash, proven) };
  }

  async #openPart(sha3_384: string, key: string, { start, end }: ByteRange) {
    const { bucket } = this.#options;
    const wrong = (size: number): RangeError =>
      new RangeError(`cannot read bytes ${String(start)} to ${String(end)} of ${String(size)}`);
    for (let times = 0; times < maxAttempts; times++) {
      const object = await this.#look(key);
      if (object === undefined) return undefined;
      if (!(0 <= start && start <= end && end < object.size)) throw wrong(object.size);
      if (!this.#holds(sha3_384, object) && !(await this.#proven(sha3_384))) throw new DamagedContent(sha3_384);
      try {
        const opened = await bucket.read(key, { start, end, etag: object.etag });
        if (opened === undefined) continue;
        if (this.#holds(sha3_384, opened.object)) {
          return { size: object.size, stream: this.#sent(opened.body, end - start + 1, undefined, () => undefined) };
        }
        opened.body.destroy();
      } catch (error) {
        // It was replaced since it was inspected.
        if (!isOther(error) && statusOf(error) !== 416) throw error;
      }
    }
    throw new BucketError(`the server has another ${key} each time`);
  }

  #damaged(sha3_384: string, { size }: BucketObject): DamagedContent {
    this.#options.damaged?.({ sha3_384, size });
    return new DamagedContent(sha3_384);
  }

  /** Yields the bytes; the last piece waits until all of them are verified. */
  #sent(body: Readable, size: number, hash: Hash | undefined, proven: () => void): Readable {
    const { requests } = this.#options.bucket;
    async function* pieces(): AsyncGenerator<Uint8Array> {
      let held: Uint8Array | undefined;
      for await (const piece of readBody(requests, body, size)) {
        hash?.update(piece);
        if (held !== undefined) yield held;
        held = piece;
      }
      proven();
      if (held !== undefined) yield held;
    }
    // A reader that stops before it has begun must not leave a connection open.
    return Readable.from(pieces(), { objectMode: false }).once('close', () => body.destroy());
  }
}

export class DamagedContent extends Error {
  constructor(sha3_384: string) {
    super(`cannot serve the blob ${sha3_384}: it is corrupt`);
  }
}
