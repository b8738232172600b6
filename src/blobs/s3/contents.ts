// Stores content in S3 under its digest: `sha3/ab/ab12…`, and `quarantine/ab12…` for corrupt content. Any process of
// the store may receive or remove at any moment; removals.ts says how they coordinate.
import { createHash, randomUUID } from 'node:crypto';
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { minutes, timestamp, type Now } from '#domain/clock.ts';
import { mustBeDigest, type StoredBlob } from '../blobs.ts';
import type { Destination } from '../disk/receiving.ts';
import type { Bucket, Found } from './bucket.ts';
import { NoBucket } from './errors.ts';
import { believeAbsence, mustFindMarker } from './marker.ts';
import type { Certain, Removals } from './removals.ts';
import { asked } from './requests.ts';
import { underWayIn } from './under-way.ts';

export const placeOfContent = (sha3_384: string): string => `sha3/${mustBeDigest(sha3_384).slice(0, 2)}/${sha3_384}`;
export const placeInQuarantine = (sha3_384: string): string => `quarantine/${mustBeDigest(sha3_384)}`;

interface Parts {
  bucket: Bucket;
  removals: Removals;
  now: Now;
  /** Whether the ETag of an object is the MD5 of its bytes. */
  isMd5: boolean;
  /** Called with content that has just been digested and sent. */
  remember: (sha3_384: string, found: Found) => void;
}

/** The metadata of a content: when it was received, by the clock of the receiving host, and the id of this transmission. */
const said = (now: Now) => ({ 'stored-at': timestamp(now()), sending: randomUUID() });

/** How long an address of content is valid. */
const handedOutFor = minutes(5);

/** How often content is sent again after another process has removed it. */
const patience = 3;

export class S3Contents implements Destination {
  /** The folder of files that are being received. */
  readonly temporary: string;
  readonly underWay: ReturnType<typeof underWayIn>;
  readonly #parts: Parts;

  constructor(directory: string, parts: Parts) {
    this.temporary = join(directory, 'blobs/tmp');
    this.underWay = underWayIn(parts.bucket);
    this.#parts = parts;
  }

  /**
   * Sends a file to its key and removes the local file. It replaces the object there: the new bytes are verified, the
   * old ones are not.
   */
  async settle(temporaryFile: string, sha3_384: string): Promise<void> {
    const { bucket, removals, remember } = this.#parts;
    const key = placeOfContent(sha3_384);
    const since = performance.now();
    await asked(async () => {
      // A bucket with objects and no marker is never opened.
      if (!bucket.isMarked) await mustFindMarker(bucket);
      for (let times = 0; times < patience; times++) {
        const said = await this.#send(key, temporaryFile);
        await removals.none(sha3_384);
        // A removal that the server began after the transmission and finished before it may have deleted the object.
        const found = await bucket.look(key, said.isLarge ? { since } : {});
        if (found === undefined) continue;
        // Another process may have sent and verified the same content at the same time.
        const isOurs = found.said['sending'] === said.sending;
        if (found.size !== said.size || (isOurs && found.etag !== said.etag)) throw wrong(key);
        if (isOurs) remember(sha3_384, found);
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
    const about = said(now);
    const { size, etag, md5 } = await bucket.putFile(key, file, about);
    const isLarge = typeof md5 !== 'string';
    return { ...about, size, isLarge, etag: isMd5 ? (isLarge ? etagOf(md5) : md5) : etag };
  }

  async stat(sha3_384: string, place = placeOfContent): Promise<StoredBlob | undefined> {
    const key = place(sha3_384);
    return asked(async () => {
      const found = await this.look(key);
      return found && { sha3_384, size: found.size, storedAt: storedAt(found) };
    });
  }

  async addressOf(sha3_384: string, fileName: string): Promise<{ size: number; address: URL } | undefined> {
    const key = placeOfContent(sha3_384);
    return asked(async () => {
      const found = await this.look(key);
      if (found === undefined) return undefined;
      return { size: found.size, address: await this.#parts.bucket.addressOf(key, fileName, handedOutFor) };
    });
  }

  /** Returns the object. Its absence is believed only if the marker exists. */
  async look(key: string): Promise<Found | undefined> {
    const { bucket } = this.#parts;
    const found = await bucket.look(key);
    if (found === undefined) await believeAbsence(bucket);
    return found;
  }

  /** Returns false if it does not exist, was received at or after that time, or is being removed by another process. */
  remove(sha3_384: string, storedBefore?: Date): Promise<boolean> {
    const { bucket } = this.#parts;
    const key = placeOfContent(sha3_384);
    return this.#alone(sha3_384, async (certain) => {
      const found = await certain(() => this.look(key));
      if (found === undefined || (storedBefore !== undefined && storedAt(found) >= storedBefore)) return false;
      await bucket.remove(key, found);
      return true;
    });
  }

  /** Returns false if it does not exist, or was received again during the call. */
  quarantine(sha3_384: string): Promise<boolean> {
    const { bucket } = this.#parts;
    const [from, to] = [placeOfContent(sha3_384), placeInQuarantine(sha3_384)];
    return this.#alone(sha3_384, async (certain) => {
      const found = await this.look(from);
      if (found === undefined) return false;
      await bucket.copy(from, to, found.size, found.said);
      const then = await certain(() => bucket.look(from));
      const isSame = then?.etag === found.etag && then.said['sending'] === found.said['sending'];
      // Else the copy is intact, or a mix of two objects.
      await bucket.remove(isSame ? from : to, then ?? found);
      return isSame;
    });
  }

  async putBack(sha3_384: string): Promise<void> {
    const { bucket, now } = this.#parts;
    const [from, to] = [placeInQuarantine(sha3_384), placeOfContent(sha3_384)];
    const isBack = await this.#alone(sha3_384, async () => {
      const found = await this.look(from);
      if (found === undefined) return false;
      await bucket.copy(from, to, found.size, said(now));
      if ((await bucket.look(to))?.size !== found.size) throw wrong(to);
      await bucket.remove(from, (await bucket.look(from)) ?? found);
      return true;
    });
    if (!isBack)
      throw new Error(`cannot put back the blob ${sha3_384}: it is not in quarantine, or somebody removes it`);
  }

  /** Sends a file into quarantine and replaces the object there. */
  async addToQuarantine(sha3_384: string, file: string): Promise<void> {
    const key = placeInQuarantine(sha3_384);
    await asked(async () => {
      const { size, etag } = await this.#send(key, file);
      const found = await this.#parts.bucket.look(key);
      if (found?.size !== size || found.etag !== etag) throw wrong(key);
    });
  }

  /** Lists every content, or everything in quarantine; `storedAt` is the server's time, because a list has no other. */
  async *list(folder = 'sha3/', place = placeOfContent): AsyncGenerator<StoredBlob> {
    const { bucket } = this.#parts;
    const listed = bucket.list(folder);
    for (let isEmpty = true; ; isEmpty = false) {
      const next = await asked(async () => {
        const found = await listed.next();
        if (found.done === true && isEmpty) await believeAbsence(bucket);
        return found.done === true ? undefined : found.value;
      });
      if (next === undefined) return;
      const sha3_384 = next.key.slice(next.key.lastIndexOf('/') + 1);
      if (!/^[0-9a-f]{96}$/.test(sha3_384) || next.key !== place(sha3_384)) continue;
      yield { sha3_384, size: next.size, storedAt: next.modified };
    }
  }

  async #alone(sha3_384: string, work: (certain: Certain) => Promise<boolean>): Promise<boolean> {
    return asked(async () => (await this.#parts.removals.alone(sha3_384, work))?.result ?? false);
  }
}

/** The time of receipt by the clock of the receiving host; the server's time if that is missing. */
const storedAt = ({ said, modified }: Found): Date => {
  const moment = new Date(said['stored-at'] ?? '');
  return Number.isNaN(moment.getTime()) ? modified : moment;
};

/** The ETag that such a server gives an object that was sent in parts. */
const etagOf = (md5: string[]): string =>
  `${createHash('md5')
    .update(Buffer.from(md5.join(''), 'hex'))
    .digest('hex')}-${String(md5.length)}`;

const wrong = (key: string): NoBucket => new NoBucket(`the server does not have as ${key} what it was sent`);
