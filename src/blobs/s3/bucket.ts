// The objects of a store in its bucket, by key: inspects, reads, sends, copies, removes and lists them.
import { createDigest } from '#domain/cryptography.ts';
import { open, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

import type { DeleteObjectCommand } from '@aws-sdk/client-s3';

import { seconds } from '#domain/clock.ts';
import type { BucketAccess, BucketAddress } from '#contract/bucket-address.ts';
import { connect } from './client.ts';
import { isAbsent } from './errors.ts';
import { PartMemory } from './part-memory.ts';
import { partsOf, partSize, defaultSizes, type ObjectPart, type S3Sizes } from './parts.ts';
import { Requests, type LongRequestOptions, type S3Traffic } from './requests.ts';
import { SendMemory } from './send-memory.ts';

/** An object as the server describes it. */
export interface BucketObject {
  size: number;
  etag: string;
  modified: Date;
  /** Its metadata, as given when it was sent. */
  metadata: Record<string, string>;
  /** The time of the server at that moment, if it is known. */
  at: Date | undefined;
}

export interface ListedObject {
  key: string;
  size: number;
  modified: Date;
}

/** The memory for all content being sent, in parts of large content. */
const partConcurrency = 4;
/**
 * Smaller content uses at least this fraction of a part, so that at most `partConcurrency * smallForOne` are sent at a
 * time: other requests need connections, too.
 */
const smallForOne = 8;
/** How many bytes are read and digested in one step, so that the event loop stays responsive. */
const stride = 1024 * 1024;
/** Seconds after which the server refuses a removal that is still on its way. */
const removalLifeSeconds = 30;

export class S3Bucket {
  readonly address: BucketAddress;
  readonly requests: Requests;
  readonly #sizes: S3Sizes;
  readonly #close: () => void;
  readonly #room: SendMemory;
  readonly #memory = new PartMemory();
  /** Whether the marker existed at the last check; if not, no content is accepted. */
  isMarked = true;
  /** The store that owns the bucket, and the ETag of its marker when it was last read; undefined before the bucket is opened. */
  ownMarker: { store: string; etag: string } | undefined;

  private constructor(address: BucketAddress, requests: Requests, sizes: S3Sizes, close: () => void) {
    [this.address, this.requests, this.#sizes, this.#close] = [address, requests, sizes, close];
    this.#room = new SendMemory(partConcurrency * sizes.single);
  }

  /** `marker` is an object that exists as long as the store does. Sends no request yet. */
  static async connect(
    address: BucketAddress,
    access: BucketAccess,
    { marker, sizes = {} }: { marker: string; sizes?: Partial<S3Sizes> },
  ): Promise<S3Bucket> {
    const { close, ...clients } = await connect(address, access);
    const Key = address.prefix + marker;
    const requests = new Requests(clients, address.bucket, (through, signal) =>
      through.ask('HeadObject', { Key }, { signal }),
    );
    return new S3Bucket(address, requests, { ...defaultSizes, ...sizes }, close);
  }

  get traffic(): S3Traffic {
    return this.requests.traffic;
  }

  close(): void {
    this.#close();
  }

  /**
   * Returns the object; undefined if the server says that it does not exist. With `since`, it waits as long as for a
   * step of an operation that began then.
   */
  async inspect(key: string, { since, signal }: LongRequestOptions = {}): Promise<BucketObject | undefined> {
    let at: Date | undefined;
    const prepare = (command: unknown): void => seeDate(command, (date) => (at = date));
    const input = { Key: this.#key(key) };
    try {
      const answer = await (since === undefined
        ? this.requests.ask('HeadObject', input, { prepare, signal })
        : this.requests.askLong('HeadObject', input, { prepare, since }));
      return { ...foundIn(answer), at };
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  /** Begins to read. With `etag` the server refuses (412) an object that has changed. Read the body or destroy it. */
  async read(
    key: string,
    how: { start?: number; end?: number; etag?: string } = {},
  ): Promise<{ object: BucketObject; body: Readable } | undefined> {
    const { start, end, etag } = how;
    const range = start === undefined ? {} : { Range: `bytes=${String(start)}-${String(end)}` };
    try {
      const answer = await this.requests.ask('GetObject', {
        Key: this.#key(key),
        ...range,
        ...(etag === undefined ? {} : { IfMatch: etag }),
      });
      const whole = Number(/\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1] ?? answer.ContentLength);
      return { object: { ...foundIn(answer), size: whole, at: undefined }, body: answer.Body as Readable };
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  /** Sends a few bytes. */
  async put(
    key: string,
    bytes: Uint8Array,
    metadata: Record<string, string> = {},
  ): Promise<{ etag: string; md5: string }> {
    const md5 = createDigest('S3 transmission').update(bytes).digest();
    const answer = await this.requests.askLong('PutObject', {
      Key: this.#key(key),
      Body: bytes,
      ContentLength: bytes.length,
      ContentMD5: md5.toString('base64'),
      Metadata: metadata,
    });
    this.traffic.bytesSent += bytes.length;
    return { etag: plain(answer.ETag), md5: md5.toString('hex') };
  }

  /** Sends a file, or its bytes from an offset on. Returns the ETag of the object, and the MD5 of the bytes or of each part. */
  async putFile(
    key: string,
    path: string,
    metadata: Record<string, string>,
    { from = 0, signal }: { from?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<{ size: number; etag: string; md5: string | string[] }> {
    const file = await open(path, 'r');
    try {
      const size = (await file.stat()).size - from;
      if (size > this.#sizes.single)
        return { size, ...(await this.#putInParts(key, { file, from, size, signal }, metadata)) };
      return await this.#inTurn(size, async () => {
        const bytes = Buffer.allocUnsafe(size);
        await readPart(file, bytes, from);
        return { size, ...(await this.put(key, bytes, metadata)) };
      });
    } finally {
      await file.close();
    }
  }

  /**
   * Copies an object of `size` bytes within the bucket. The caller must check afterwards whether the source has
   * changed: not every server supports that condition for objects that were sent in parts.
   */
  async copy(from: string, to: string, size: number, metadata: Record<string, string>): Promise<void> {
    const CopySource = `${this.address.bucket}/${this.#key(from)}`;
    if (size <= this.#sizes.copied) {
      const about = { Metadata: metadata, MetadataDirective: 'REPLACE' as const };
      await this.requests.askLong('CopyObject', { Key: this.#key(to), CopySource, ...about });
      return;
    }
    const since = performance.now();
    const parts = partsOf(size, partSize(size, this.#sizes.copiedPart, Infinity));
    await this.#inParts(to, metadata, parts, async (UploadId, { number, start, end }, signal) => {
      const CopySourceRange = `bytes=${String(start)}-${String(end - 1)}`;
      const where = { Key: this.#key(to), UploadId, PartNumber: number };
      const from = { CopySource, CopySourceRange };
      const answer = await this.requests.askLong('UploadPartCopy', { ...where, ...from }, { signal, since });
      return plain(answer.CopyPartResult?.ETag);
    });
  }

  /**
   * Removes an object. The request has an expiry by the server's clock, counted from when the object was inspected: if
   * it arrives later, the server refuses it. Some servers remove an object that was sent in parts one part after the
   * other.
   */
  async remove(key: string, { at = new Date() }: Pick<BucketObject, 'at'>): Promise<void> {
    await this.requests.askLong(
      'DeleteObject',
      { Key: this.#key(key) },
      { prepare: (command) => this.#endAfter(command, at) },
    );
  }

  /** Returns an address that lets its holder read the object for `life` milliseconds. */
  async addressOf(key: string, fileName: string, life: number): Promise<URL> {
    const { endpoint, bucket } = this.address;
    const { protocol, hostname, port, host } = new URL(endpoint);
    const request = {
      method: 'GET',
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path: `/${bucket}/${this.#key(key)}`,
      query: {
        'response-content-type': 'application/octet-stream',
        'response-cache-control': 'private, no-store',
        'response-content-disposition': `attachment; filename="${fileName}"`,
      },
      headers: { host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
    };
    const signed = await this.#presigned(request, { signingDate: new Date(), expiresIn: life / seconds(1) });
    const query = Object.entries(signed.query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return new URL(`${request.path}?${query.join('&')}`, endpoint);
  }

  /** Lists the objects with this key prefix, in order. */
  async *list(begin: string): AsyncGenerator<ListedObject> {
    for (let more: string | undefined, isLast = false; !isLast;) {
      const page = await this.requests.ask('ListObjectsV2', {
        Prefix: this.#key(begin),
        ContinuationToken: more,
        MaxKeys: this.#sizes.listed,
      });
      for (const { Key = '', Size = 0, LastModified = new Date(0) } of page.Contents ?? []) {
        yield { key: Key.slice(this.address.prefix.length), size: Size, modified: LastModified };
      }
      more = page.NextContinuationToken;
      isLast = page.IsTruncated !== true || more === undefined;
    }
  }

  /** Aborts uploads in parts that began before that moment; returns how many. */
  async abandon(before: Date): Promise<number> {
    let count = 0;
    for (let from = {}, isLast = false; !isLast;) {
      const page = await this.requests.ask('ListMultipartUploads', { Prefix: this.address.prefix, ...from });
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Key === undefined || Initiated === undefined || Initiated >= before) continue;
        await this.requests.ask('AbortMultipartUpload', { Key, UploadId });
        count++;
      }
      from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
      isLast = page.IsTruncated !== true || page.NextKeyMarker === undefined;
    }
    return count;
  }

  /** Runs work that needs `size` bytes of memory when there is room for it, and waits for that as long as the server answers. */
  async #inTurn<Result>(size: number, work: () => Promise<Result>): Promise<Result> {
    const watch = this.requests.watch();
    const least = Math.floor(this.#sizes.single / smallForOne);
    try {
      return await this.#room.lend(Math.max(least, size), watch.signal, () => {
        // From here on each request has a watch of its own.
        watch.end();
        return work();
      });
    } finally {
      watch.end();
    }
  }

  async #putInParts(
    key: string,
    { file, from, size, ...ended }: { file: FileHandle; from: number; size: number; signal?: AbortSignal | undefined },
    metadata: Record<string, string>,
  ) {
    const since = performance.now();
    const each = partSize(size, this.#sizes.single);
    const parts = partsOf(size, each);
    const md5 = parts.map(() => '');
    const etag = await this.#memory.during(() =>
      this.#inParts(key, metadata, parts, (UploadId, { number, start, end }, signal) =>
        this.#memory.lend(each, async (memory) => {
          const bytes = memory.subarray(0, end - start);
          ended.signal?.throwIfAborted();
          const digest = await readPart(file, bytes, from + start);
          const answer = await this.requests.askLong(
            'UploadPart',
            {
              Key: this.#key(key),
              UploadId,
              PartNumber: number,
              Body: bytes,
              ContentLength: bytes.length,
              ContentMD5: digest.toString('base64'),
            },
            { signal, since },
          );
          this.traffic.bytesSent += bytes.length;
          md5[number - 1] = digest.toString('hex');
          return plain(answer.ETag);
        }),
      ),
    );
    return { etag, md5 };
  }

  /** Creates an object from parts, a few at a time. On failure it aborts the upload, if the server can still be reached. */
  async #inParts(
    key: string,
    metadata: Record<string, string>,
    parts: ObjectPart[],
    send: (upload: string, part: ObjectPart, signal: AbortSignal) => Promise<string>,
  ): Promise<string> {
    const Key = this.#key(key);
    const { UploadId = '' } = await this.requests.ask('CreateMultipartUpload', { Key, Metadata: metadata });
    const failed = new AbortController();
    try {
      const sent = parts.map((part) =>
        this.#room
          .lend(this.#sizes.single, failed.signal, async () => {
            return { PartNumber: part.number, ETag: await send(UploadId, part, failed.signal) };
          })
          .catch((error: unknown) => {
            failed.abort(error);
            throw error;
          }),
      );
      await Promise.allSettled(sent);
      const Parts = await Promise.all(sent);
      const answer = await this.requests.askLong('CompleteMultipartUpload', {
        Key,
        UploadId,
        MultipartUpload: { Parts },
      });
      return plain(answer.ETag);
    } catch (error) {
      await this.requests.ask('AbortMultipartUpload', { Key, UploadId }).catch(() => undefined);
      throw failed.signal.aborted ? failed.signal.reason : error;
    }
  }

  async #presigned<Request extends object>(request: Request, how: { signingDate: Date; expiresIn: number }) {
    const { config } = this.requests.client;
    const signer = (await config.signer()) as unknown as Presigner;
    const of = { signingService: 's3', signingRegion: await config.region() };
    return signer.presign(request, { ...how, ...of });
  }

  /** Moves the signature into the address, with its start and its expiry. */
  #endAfter(command: DeleteObjectCommand, signingDate: Date): void {
    command.middlewareStack.add(
      (next) => async (args) => {
        const request = args.request as { headers: Record<string, string> };
        for (const name of Object.keys(request.headers)) {
          if (/^(?:authorization|x-amz-|amz-sdk-)/i.test(name)) Reflect.deleteProperty(request.headers, name);
        }
        request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
        return next({
          ...args,
          request: await this.#presigned(request, { signingDate, expiresIn: removalLifeSeconds }),
        });
      },
      { step: 'finalizeRequest', priority: 'low', name: 'endsByItself' },
    );
  }

  #key(key: string): string {
    return this.address.prefix + key;
  }
}

/** The signer of the client; its declared type lacks this method. */
interface Presigner {
  presign<Request extends object>(request: Request, how: object): Promise<Request & { query: Record<string, string> }>;
}

/** Reports the server's clock from the response. */
function seeDate(command: unknown, see: (date: Date | undefined) => void): void {
  (command as DeleteObjectCommand).middlewareStack.add(
    (next) => async (args) => {
      const answer = await next(args);
      const { headers = {} } = answer.response as { headers?: Record<string, string> };
      const date = new Date(headers['date'] ?? '');
      see(Number.isNaN(date.getTime()) ? undefined : date);
      return answer;
    },
    { step: 'deserialize', priority: 'low', name: 'seesDate' },
  );
}

/** Fills the memory from the file in small steps, so that the event loop stays responsive; returns the MD5. */
async function readPart(file: FileHandle, bytes: Buffer, start: number): Promise<Buffer> {
  const hash = createDigest('S3 transmission');
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await file.read(bytes, at, Math.min(stride, bytes.length - at), start + at);
    if (bytesRead === 0)
      throw new Error(`a file that is sent ends at ${String(start + at)} bytes and should have more`);
    hash.update(bytes.subarray(at, at + bytesRead));
    at += bytesRead;
  }
  return hash.digest();
}

interface ObjectResponse {
  ContentLength?: number | undefined;
  ETag?: string | undefined;
  LastModified?: Date | undefined;
  Metadata?: Record<string, string> | undefined;
}

const foundIn = ({ ContentLength = 0, ETag, LastModified = new Date(0), Metadata = {} }: ObjectResponse) => ({
  size: ContentLength,
  etag: plain(ETag),
  modified: LastModified,
  metadata: Metadata,
});

/** An ETag without its quotes. */
const plain = (etag = ''): string => etag.replace(/^"|"$/g, '');
