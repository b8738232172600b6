// Verifies content that is read, as on a disk: a whole content while it is sent, with the last piece held back until
// the digest matches; a range before its first byte is sent. The ETag and modification time of verified objects are
// remembered.
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';

import { BoundedMap } from '#domain/bounded-map.ts';
import { hours, type Now } from '#domain/clock.ts';
import type { ByteRange } from '../blobs.ts';
import { arriving } from './arriving.ts';
import type { Bucket, Found } from './bucket.ts';
import { placeOfContent } from './contents.ts';
import { NoBucket, statusOf } from './errors.ts';
import { believeAbsence, isOther } from './marker.ts';
import { asked } from './requests.ts';

const goodFor = hours(24);
const remembered = 10_000;
/** How often to retry if the content keeps being replaced. */
const patience = 3;

export interface ReadingOptions {
  bucket: Bucket;
  now: Now;
  damaged: ((blob: { sha3_384: string; size: number }) => void) | undefined;
}

export class Reading {
  readonly #options: ReadingOptions;
  readonly #known = new BoundedMap<string, { etag: string; modified: number; until: number }>(remembered);
  /** Concurrent readers of one content wait for one verification. */
  readonly #proving = new Map<string, Promise<boolean>>();

  constructor(options: ReadingOptions) {
    this.#options = options;
  }

  /** Remembers an object after its bytes were digested. */
  remember(sha3_384: string, { etag, modified }: Found): void {
    const until = this.#options.now().getTime() + goodFor;
    this.#known.set(sha3_384, { etag, modified: modified.getTime(), until });
  }

  /** Whether an object is unchanged since it matched its digest. */
  #holds(sha3_384: string, { etag, modified }: Found): boolean {
    const known = this.#known.get(sha3_384);
    const isFresh = known !== undefined && this.#options.now().getTime() < known.until;
    return isFresh && known.etag === etag && known.modified === modified.getTime();
  }

  /** Whether the content exists and matches its digest. */
  async prove(sha3_384: string): Promise<boolean> {
    return asked(async () => {
      const found = await this.#look(placeOfContent(sha3_384));
      if (found === undefined) return false;
      if (this.#holds(sha3_384, found)) return true;
      return this.#proven(sha3_384);
    });
  }

  #proven(sha3_384: string): Promise<boolean> {
    const reading =
      this.#proving.get(sha3_384) ?? this.#readWhole(sha3_384).finally(() => this.#proving.delete(sha3_384));
    this.#proving.set(sha3_384, reading);
    return reading;
  }

  async #look(key: string): Promise<Found | undefined> {
    const found = await this.#options.bucket.look(key);
    if (found === undefined) await believeAbsence(this.#options.bucket);
    return found;
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
    const key = placeOfContent(sha3_384);
    return asked(async () =>
      range === undefined ? this.#openWhole(sha3_384, key) : this.#openPart(sha3_384, key, range),
    );
  }

  async #openWhole(sha3_384: string, key: string) {
    const { bucket } = this.#options;
    const there = await bucket.read(key);
    if (there === undefined) {
      await believeAbsence(bucket);
      return undefined;
    }
    const { found, body } = there;
    const hash = this.#holds(sha3_384, found) ? undefined : createHash('sha3-384');
    const proven = (): void => {
      if (hash === undefined) return;
      if (hash.digest('hex') !== sha3_384) throw this.#damaged(sha3_384, found);
      this.remember(sha3_384, found);
    };
    return { size: found.size, stream: this.#sent(body, found.size, hash, proven) };
  }

  async #openPart(sha3_384: string, key: string, { start, end }: ByteRange) {
    const { bucket } = this.#options;
    const wrong = (size: number): RangeError =>
      new RangeError(`cannot read bytes ${String(start)} to ${String(end)} of ${String(size)}`);
    for (let times = 0; times < patience; times++) {
      const found = await this.#look(key);
      if (found === undefined) return undefined;
      if (!(0 <= start && start <= end && end < found.size)) throw wrong(found.size);
      if (!this.#holds(sha3_384, found) && !(await this.#proven(sha3_384))) throw new DamagedContent(sha3_384);
      try {
        const there = await bucket.read(key, { start, end, etag: found.etag });
        if (there === undefined) continue;
        if (this.#holds(sha3_384, there.found)) {
          return { size: found.size, stream: this.#sent(there.body, end - start + 1, undefined, () => undefined) };
        }
        there.body.destroy();
      } catch (error) {
        // It was replaced since it was inspected.
        if (!isOther(error) && statusOf(error) !== 416) throw error;
      }
    }
    throw new NoBucket(`the server has another ${key} each time`);
  }

  #damaged(sha3_384: string, { size }: Found): DamagedContent {
    this.#options.damaged?.({ sha3_384, size });
    return new DamagedContent(sha3_384);
  }

  /** Yields the bytes; the last piece waits until all of them are verified. */
  #sent(body: Readable, size: number, hash: Hash | undefined, proven: () => void): Readable {
    const { requests } = this.#options.bucket;
    async function* pieces(): AsyncGenerator<Uint8Array> {
      let held: Uint8Array | undefined;
      for await (const piece of arriving(requests, body, size)) {
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
    super(`cannot serve the blob ${sha3_384}: it is damaged`);
  }
}
