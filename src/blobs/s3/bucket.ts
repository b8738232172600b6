// The objects of a store in its bucket, by their keys: looked at, read, sent, copied, removed, listed.
import { createHash } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

import type { DeleteObjectCommand } from '@aws-sdk/client-s3';

import { seconds } from '#domain/clock.ts';
import type { BucketAccess, BucketAddress } from './address.ts';
import { connect } from './client.ts';
import { isAbsent } from './errors.ts';
import { PartMemory } from './part-memory.ts';
import { partsOf, partSize, usualSizes, type Part, type Sizes } from './parts.ts';
import { Requests, type LongHow, type Traffic } from './requests.ts';
import { SendingRoom } from './sending-room.ts';

/** An object as the server tells of it. */
export interface Found {
  size: number;
  etag: string;
  modified: Date;
  /** What was said of it when it was sent. */
  said: Record<string, string>;
  /** What the server's clock said then, as far as it tells. */
  at: Date | undefined;
}

export interface Listed {
  key: string;
  size: number;
  modified: Date;
}

/** So many parts are held in memory at a time, of all that is sent, or as much of what is smaller; */
const partsAtOnce = 4;
/** of that so many for each part, because others need connections too. */
const smallForOne = 8;
/** So much is read and digested in one go, so that nobody else waits for it. */
const stride = 1024 * 1024;
/** Seconds after which the server itself refuses a removal that has not come yet. */
const removalLife = 30;

export class Bucket {
  readonly address: BucketAddress;
  readonly requests: Requests;
  readonly #sizes: Sizes;
  readonly #close: () => void;
  readonly #room: SendingRoom;
  readonly #memory = new PartMemory();
  /** Whether the marker was there when it was last looked for; where it is not, nothing is taken in. */
  isMarked = true;
  /** Which store's it is, and what the server called its marker when it was last read; nothing before it has been opened. */
  ownMarker: { store: string; etag: string } | undefined;

  private constructor(address: BucketAddress, requests: Requests, sizes: Sizes, close: () => void) {
    [this.address, this.requests, this.#sizes, this.#close] = [address, requests, sizes, close];
    this.#room = new SendingRoom(partsAtOnce * sizes.single);
  }

  /** `marker` is an object that is there as long as the store is; nothing is asked of the server yet. */
  static async connect(
    address: BucketAddress,
    access: BucketAccess,
    { marker, sizes = {} }: { marker: string; sizes?: Partial<Sizes> },
  ): Promise<Bucket> {
    const { close, ...by } = await connect(address, access);
    const Key = address.prefix + marker;
    const requests = new Requests(by, address.bucket, (through, signal) =>
      through.ask('HeadObject', { Key }, { signal }),
    );
    return new Bucket(address, requests, { ...usualSizes, ...sizes }, close);
  }

  get traffic(): Traffic {
    return this.requests.traffic;
  }

  close(): void {
    this.#close();
  }

  /** What is there; nothing where the server says that nothing is. With `since` it is waited for as long as for a part of what began then. */
  async look(key: string, { since, signal }: LongHow = {}): Promise<Found | undefined> {
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

  /** Begins to read; `etag` refuses (412) what is not that any more. Read the body or destroy it. */
  async read(
    key: string,
    how: { start?: number; end?: number; etag?: string } = {},
  ): Promise<{ found: Found; body: Readable } | undefined> {
    const { start, end, etag } = how;
    const range = start === undefined ? {} : { Range: `bytes=${String(start)}-${String(end)}` };
    try {
      const answer = await this.requests.ask('GetObject', {
        Key: this.#key(key),
        ...range,
        ...(etag === undefined ? {} : { IfMatch: etag }),
      });
      const whole = Number(/\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1] ?? answer.ContentLength);
      return { found: { ...foundIn(answer), size: whole, at: undefined }, body: answer.Body as Readable };
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  /** Sends a few bytes. */
  async put(key: string, bytes: Uint8Array, said: Record<string, string> = {}): Promise<{ etag: string; md5: string }> {
    const md5 = createHash('md5').update(bytes).digest();
    const answer = await this.requests.askLong('PutObject', {
      Key: this.#key(key),
      Body: bytes,
      ContentLength: bytes.length,
      ContentMD5: md5.toString('base64'),
      Metadata: said,
    });
    this.traffic.bytesSent += bytes.length;
    return { etag: plain(answer.ETag), md5: md5.toString('hex') };
  }

  /** Sends a file, or what of it lies behind the first bytes; what the server calls the object, and the MD5 of what was sent, or of each of its parts. */
  async putFile(
    key: string,
    path: string,
    said: Record<string, string>,
    from = 0,
  ): Promise<{ size: number; etag: string; md5: string | string[] }> {
    const file = await open(path, 'r');
    try {
      const size = (await file.stat()).size - from;
      if (size > this.#sizes.single) return { size, ...(await this.#putInParts(key, { file, from, size }, said)) };
      return await this.#inTurn(size, async () => {
        const bytes = Buffer.allocUnsafe(size);
        await readPart(file, bytes, from);
        return { size, ...(await this.put(key, bytes, said)) };
      });
    } finally {
      await file.close();
    }
  }

  /**
   * Copies an object of so many bytes within the bucket. Whether it was another one meanwhile is to be looked at afterwards: not
   * every server can copy on that condition what it was sent in parts.
   */
  async copy(from: string, to: string, size: number, said: Record<string, string>): Promise<void> {
    const CopySource = `${this.address.bucket}/${this.#key(from)}`;
    if (size <= this.#sizes.copied) {
      const about = { Metadata: said, MetadataDirective: 'REPLACE' as const };
      await this.requests.askLong('CopyObject', { Key: this.#key(to), CopySource, ...about });
      return;
    }
    const since = performance.now();
    const parts = partsOf(size, partSize(size, this.#sizes.copiedPart, Infinity));
    await this.#inParts(to, said, parts, async (UploadId, { number, start, end }, signal) => {
      const CopySourceRange = `bytes=${String(start)}-${String(end - 1)}`;
      const where = { Key: this.#key(to), UploadId, PartNumber: number };
      const from = { CopySource, CopySourceRange };
      const answer = await this.requests.askLong('UploadPartCopy', { ...where, ...from }, { signal, since });
      return plain(answer.CopyPartResult?.ETag);
    });
  }

  /**
   * Removes an object. The request bears its own end, by the server's clock as it was when the object was looked at: however
   * late it comes there, after that the server refuses it. Of what was sent in parts some servers remove one part after the other.
   */
  async remove(key: string, { at = new Date() }: Pick<Found, 'at'>): Promise<void> {
    await this.requests.askLong(
      'DeleteObject',
      { Key: this.#key(key) },
      { prepare: (command) => this.#endAfter(command, at) },
    );
  }

  /** An address at which anybody may read the object for so many milliseconds. */
  async addressOf(key: string, fileName: string, life: number): Promise<URL> {
    const { endpoint, bucket } = this.address;
    const { protocol, hostname, port, host } = new URL(endpoint);
    const request = {
      ...{ method: 'GET', protocol, hostname, ...(port !== '' && { port: Number(port) }) },
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

  /** Every object whose key begins so, in their order. */
  async *list(begin: string): AsyncGenerator<Listed> {
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

  /** Gives up what was begun to be sent in parts before that moment; how many. */
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

  /** Does what takes so many bytes of memory when there is room for it, and waits for that as long as the server answers. */
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
    { file, from, size }: { file: FileHandle; from: number; size: number },
    said: Record<string, string>,
  ) {
    const since = performance.now();
    const each = partSize(size, this.#sizes.single);
    const parts = partsOf(size, each);
    const md5 = parts.map(() => '');
    const etag = await this.#memory.during(() =>
      this.#inParts(key, said, parts, (UploadId, { number, start, end }, signal) =>
        this.#memory.lend(each, async (memory) => {
          const bytes = memory.subarray(0, end - start);
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

  /** Makes an object of parts, a few at a time; of a failure nothing is left, as far as the server can still be told. */
  async #inParts(
    key: string,
    said: Record<string, string>,
    parts: Part[],
    send: (upload: string, part: Part, signal: AbortSignal) => Promise<string>,
  ): Promise<string> {
    const Key = this.#key(key);
    const { UploadId = '' } = await this.requests.ask('CreateMultipartUpload', { Key, Metadata: said });
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

  /** Moves the signature into the address, with its beginning and its end. */
  #endAfter(command: DeleteObjectCommand, signingDate: Date): void {
    command.middlewareStack.add(
      (next) => async (args) => {
        const request = args.request as { headers: Record<string, string> };
        for (const name of Object.keys(request.headers)) {
          if (/^(?:authorization|x-amz-|amz-sdk-)/i.test(name)) Reflect.deleteProperty(request.headers, name);
        }
        request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD';
        return next({ ...args, request: await this.#presigned(request, { signingDate, expiresIn: removalLife }) });
      },
      { step: 'finalizeRequest', priority: 'low', name: 'endsByItself' },
    );
  }

  #key(key: string): string {
    return this.address.prefix + key;
  }
}

/** What the client signs with; its type says less than it does. */
interface Presigner {
  presign<Request extends object>(request: Request, how: object): Promise<Request & { query: Record<string, string> }>;
}

/** Says what the server's clock told in its answer. */
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

/** Fills the memory with what a file has there, few bytes at a time pass the event loop; their MD5. */
async function readPart(file: FileHandle, bytes: Buffer, start: number): Promise<Buffer> {
  const hash = createHash('md5');
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await file.read(bytes, at, Math.min(stride, bytes.length - at), start + at);
    if (bytesRead === 0)
      throw new Error(`a file that is sent ends at ${String(start + at)} bytes and should have more`);
    hash.update(bytes.subarray(at, at + bytesRead));
    at += bytesRead;
  }
  return hash.digest();
}

interface Answered {
  ContentLength?: number | undefined;
  ETag?: string | undefined;
  LastModified?: Date | undefined;
  Metadata?: Record<string, string> | undefined;
}

const foundIn = ({ ContentLength = 0, ETag, LastModified = new Date(0), Metadata = {} }: Answered) => ({
  size: ContentLength,
  etag: plain(ETag),
  modified: LastModified,
  said: Metadata,
});

/** An ETag without what stands around it. */
const plain = (etag = ''): string => etag.replace(/^"|"$/g, '');
