// A bucket in memory with the part of S3Bucket that contents are received and removed through. A removal that arrives
// more than 30 s after the look at its object is refused, as by a server.
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { BucketObject, S3Bucket } from '#src/blobs/s3/bucket.ts';
import { markerKey } from '#src/blobs/s3/marker.ts';
import type { Doors, Passenger } from './doors.ts';

const removalLifeMs = 30_000;

export class MemoryBucket {
  readonly objects = new Map<string, BucketObject>();
  readonly #doors: Doors;
  readonly #now: () => Date;

  constructor(doors: Doors, now: () => Date) {
    this.#doors = doors;
    this.#now = now;
    this.put(markerKey, Buffer.from('marker'), {});
  }

  put(key: string, bytes: Buffer, metadata: Record<string, string>): BucketObject {
    const etag = createHash('md5').update(bytes).digest('hex');
    const object = { size: bytes.length, etag, metadata, modified: this.#now(), at: undefined } as BucketObject;
    this.objects.set(key, object);
    return object;
  }

  /** The bucket as a process sees it. */
  seenBy(passenger: Passenger): S3Bucket {
    const [doors, now] = [this.#doors, this.#now];
    /** A request: on its way, done, and its answer on its way back. */
    const send = async <Result>(work: () => Result): Promise<Result> => {
      await doors.pass(passenger, 'blobs');
      const isDone = doors.arrive().then(work);
      isDone.catch(() => undefined);
      const result = await isDone;
      await doors.pass(passenger, 'answer');
      return result;
    };
    const bucket = {
      isMarked: true,
      ownMarker: { store: 'store', etag: this.objects.get(markerKey)!.etag },
      inspect: (key: string) =>
        send(() => {
          const object = this.objects.get(key);
          return object && { ...object, at: now() };
        }),
      putFile: (key: string, path: string, metadata: Record<string, string>) =>
        send(() => {
          const { size, etag } = this.put(key, readFileSync(path), metadata);
          return { size, etag, md5: etag };
        }),
      remove: (key: string, { at = now() }: Pick<BucketObject, 'at'>) =>
        send(() => {
          if (now().getTime() > at.getTime() + removalLifeMs)
            throw new Error(`the removal ${randomUUID()} is too late`);
          this.objects.delete(key);
        }),
    };
    return bucket as unknown as S3Bucket;
  }
}
