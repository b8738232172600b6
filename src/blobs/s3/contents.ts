// Stores content in S3 under its digest: `sha3/ab/ab12…`, and `quarantine/ab12…` for corrupt content. Any process of
// the store may receive or remove at any moment; removals.ts says how they coordinate.
import { createDigest, randomUUID } from '#domain/cryptography.ts';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { minutes, timestamp, type Now } from '#domain/clock.ts';
import { requireDigest, type StoredBlob } from '../blobs.ts';
import type { BlobDestination } from '../disk/receiver.ts';
import type { S3Bucket, BucketObject } from './bucket.ts';
import { BucketError } from './errors.ts';
import { confirmAbsence, requireMarker } from './marker.ts';
import type { LeasedInspection, Removals } from './removals.ts';
import { runForCaller } from './requests.ts';
import { createUnfinishedUploads } from './unfinished-uploads.ts';

export const contentKey = (sha3_384: string): string => `sha3/${requireDigest(sha3_384).slice(0, 2)}/${sha3_384}`;
export const quarantineKey = (sha3_384: string): string => `quarantine/${requireDigest(sha3_384)}`;

interface S3ContentsParts {
  bucket: S3Bucket;
  removals: Removals;
  now: Now;
  /** Whether the ETag of an object is the MD5 of its bytes. */
  isMd5: boolean;
  /** Called with content that has just been digested and sent. */
  remember: (sha3_384: string, object: BucketObject) => void;
}

/** The metadata of a content: when it was received, by the clock of the receiving host, and the id of this transmission. */
const createMetadata = (now: Now) => ({ 'stored-at': timestamp(now()), sending: randomUUID() });

/** How long an address of content is valid. */
const addressLifeMs = minutes(5);

/** How often content is sent again after another process has removed it. */
const maxSends = 3;

export class S3Contents implements BlobDestination {
  /** The folder of files that are being received. */
  readonly temporary: string;
  readonly underWay: ReturnType<typeof createUnfinishedUploads>;
  readonly #parts: S3ContentsParts;

  constructor(directory: string, parts: S3ContentsParts) {
    this.temporary = join(directory, 'blobs/tmp');
    this.underWay = createUnfinishedUploads(parts.bucket);
    this.#parts = parts;
  }

  /**
   * Sends a file to its key and removes the local file. It replaces the object there: the new bytes are verified, the
   * old ones are not.
   */
  async settle(temporaryFile: string, sha3_384: string): Promise<void> {
    const { bucket, removals, remember } = this.#parts;
    const key = contentKey(sha3_384);
    const since = performance.now();
    await runForCaller(async () => {
      // A bucket with objects and no marker is never opened.
      if (!bucket.isMarked) await requireMarker(bucket);
      for (let times = 0; times < maxSends; times++) {
        const sent = await this.#send(key, temporaryFile);
        await removals.none(sha3_384);
        // A removal that the server began after the transmission and finished before it may have deleted the object.
        const object = await bucket.inspect(key, sent.isLarge ? { since } : {});
        if (object === undefined) continue;
        // Another process may have sent and verified the same content at the same time.
        const isOurs = object.metadata['sending'] === sent.sending;
        if (object.size !== sent.size || (isOurs && object.etag !== sent.etag)) throw wrong(key);
        if (isOurs) remember(sha3_384, object);
        return;
      }
      throw wrong(key);
    });
    await unlink(temporaryFile);
  }

  /** Each content is durable once it is sent. */
  settleWithOthers(temporaryFile: string, sha3_384: string): Promise<void> {
    return this.settle(temporaryFile, sha3_384);
  }

  /** Sends the file. Returns the ETag that the server must report, or the one it reports if it does not use MD5. */
  async #send(key: string, file: string) {
    const { bucket, now, isMd5 } = this.#parts;
    const about = createMetadata(now);
    const { size, etag, md5 } = await bucket.putFile(key, file, about);
    const isLarge = typeof md5 !== 'string';
    return { ...about, size, isLarge, etag: isMd5 ? (isLarge ? etagOf(md5) : md5) : etag };
  }

  async stat(sha3_384: string, place = contentKey): Promise<StoredBlob | undefined> {
    const key = place(sha3_384);
    return runForCaller(async () => {
      const object = await this.inspect(key);
      return object && { sha3_384, size: object.size, storedAt: storedAt(object) };
    });
  }

  async addressOf(sha3_384: string, fileName: string): Promise<{ size: number; address: URL } | undefined> {
    const key = contentKey(sha3_384);
    return runForCaller(async () => {
      const object = await this.inspect(key);
      if (object === undefined) return undefined;
      return { size: object.size, address: await this.#parts.bucket.addressOf(key, fileName, addressLifeMs) };
    });
  }

  /** Returns the object. Its absence is believed only if the marker exists. */
  async inspect(key: string): Promise<BucketObject | undefined> {
    const { bucket } = this.#parts;
    const object = await bucket.inspect(key);
    if (object === undefined) await confirmAbsence(bucket);
    return object;
  }

  /** Returns false if it does not exist, was received at or after that time, or is being removed by another process. */
  remove(sha3_384: string, storedBefore?: Date): Promise<boolean> {
    const { bucket } = this.#parts;
    const key = contentKey(sha3_384);
    return this.#alone(sha3_384, async (certain) => {
      const object = await certain(() => this.inspect(key));
      if (object === undefined || (storedBefore !== undefined && storedAt(object) >= storedBefore)) return false;
      await bucket.remove(key, object);
      return true;
    });
  }

  /** Returns false if it does not exist, or was received again during the call. */
  quarantine(sha3_384: string): Promise<boolean> {
    const { bucket } = this.#parts;
    const [from, to] = [contentKey(sha3_384), quarantineKey(sha3_384)];
    return this.#alone(sha3_384, async (certain) => {
      const object = await this.inspect(from);
      if (object === undefined) return false;
      await bucket.copy(from, to, object.size, object.metadata);
      const then = await certain(() => bucket.inspect(from));
      const isSame = then?.etag === object.etag && then.metadata['sending'] === object.metadata['sending'];
      // Else the copy is intact, or a mix of two objects.
      await bucket.remove(isSame ? from : to, then ?? object);
      return isSame;
    });
  }

  async restoreQuarantined(sha3_384: string): Promise<void> {
    const { bucket, now } = this.#parts;
    const [from, to] = [quarantineKey(sha3_384), contentKey(sha3_384)];
    const isBack = await this.#alone(sha3_384, async () => {
      const object = await this.inspect(from);
      if (object === undefined) return false;
      await bucket.copy(from, to, object.size, createMetadata(now));
      if ((await bucket.inspect(to))?.size !== object.size) throw wrong(to);
      await bucket.remove(from, (await bucket.inspect(from)) ?? object);
      return true;
    });
    if (!isBack)
      throw new Error(`cannot restore the blob ${sha3_384}: it is not in quarantine, or it is being removed`);
  }

  /** Sends a file into quarantine and replaces the object there. */
  async addToQuarantine(sha3_384: string, file: string): Promise<void> {
    const key = quarantineKey(sha3_384);
    await runForCaller(async () => {
      const { size, etag } = await this.#send(key, file);
      const object = await this.#parts.bucket.inspect(key);
      if (object?.size !== size || object.etag !== etag) throw wrong(key);
    });
  }

  /** Lists every content, or everything in quarantine; `storedAt` is the server's time, because a list has no other. */
  async *list(folder = 'sha3/', place = contentKey): AsyncGenerator<StoredBlob> {
    const { bucket } = this.#parts;
    const listed = bucket.list(folder);
    for (let isEmpty = true; ; isEmpty = false) {
      const next = await runForCaller(async () => {
        const result = await listed.next();
        if (result.done === true && isEmpty) await confirmAbsence(bucket);
        return result.done === true ? undefined : result.value;
      });
      if (next === undefined) return;
      const sha3_384 = next.key.slice(next.key.lastIndexOf('/') + 1);
      if (!/^[0-9a-f]{96}$/.test(sha3_384) || next.key !== place(sha3_384)) continue;
      yield { sha3_384, size: next.size, storedAt: next.modified };
    }
  }

  async #alone(sha3_384: string, work: (certain: LeasedInspection) => Promise<boolean>): Promise<boolean> {
    return runForCaller(async () => (await this.#parts.removals.alone(sha3_384, work))?.result ?? false);
  }
}

/** The time of receipt by the clock of the receiving host; the server's time if that is missing. */
const storedAt = ({ metadata, modified }: BucketObject): Date => {
  const moment = new Date(metadata['stored-at'] ?? '');
  return Number.isNaN(moment.getTime()) ? modified : moment;
};

/** The ETag that a server with MD5 ETags gives an object that was uploaded in parts. */
const etagOf = (md5: string[]): string =>
  `${createDigest('S3 transmission')
    .update(Buffer.from(md5.join(''), 'hex'))
    .digest('hex')}-${String(md5.length)}`;

const wrong = (key: string): BucketError =>
  new BucketError(`the server has stored other content as ${key} than it was sent`);
