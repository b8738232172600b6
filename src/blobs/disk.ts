// Blobs on a disk. Below `DIRECTORY/blobs`:
//
//   tmp/<id>            what is being received
//   sha3/ab/ab12…       complete content under its sha3-384
//   quarantine/ab12…    content that was found damaged
//   ballast             64 MiB that can be given up on a full disk
//
// The order of steps is what makes an acknowledged blob survive a power cut: the bytes are made durable under their
// temporary name, then moved, then both directories are made durable. A failed fsync says that the kernel dropped bytes
// it had promised to write; trying again would only seem to work, so the store stops.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  mkdir,
  open as openFile,
  opendir,
  lstat,
  readdir,
  rename,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Now } from '#domain/clock.ts';
import { Refusal } from '#domain/refusal.ts';
import { keepBallast, releaseBallast } from './ballast.ts';
import { mustBeDigest, type Blobs, type StoredBlob, type TakenBlob } from './blobs.ts';
import type { DigestPool } from './digests.ts';
import { createPlaces, type PlaceOptions } from './places.ts';
import { createProofs } from './proofs.ts';
import { diskBytes, diskFull, freeBytes, space, type SpaceClaim } from './space.ts';

export interface DiskBlobs extends Blobs {
  /** Sets the ballast aside where there is room for it; false when there is none. Call it when the store is ready. */
  keepBallast(): Promise<boolean>;
  /** Gives the ballast up, so that a full disk takes the writes that make room; false when it is gone already. */
  releaseBallast(): Promise<boolean>;
}

export interface DiskBlobsOptions {
  /** The data directory, which exists. */
  directory: string;
  /** Bytes of the disk that uploads never use. */
  reserve: number;
  digests: DigestPool;
  /** Told that the disk broke a promise; the process must accept no more writes and end. */
  fatal: (error: Error) => void;
  /** Told of content that had not its digest when somebody wanted to read it. */
  damaged?: ((blob: { sha3_384: string; size: number }) => void) | undefined;
  /** Who may send at the same time as others. */
  places?: Partial<PlaceOptions> | undefined;
  now?: Now;
  /** How files are opened and how much room there is; handed in so that a test can have a bad disk. */
  open?: typeof openFile;
  freeOnDisk?: () => number;
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
/** Writes are gathered to this size: fewer, larger ones cost less. All uploads together gather at most `gatheredByAll`. */
const batch = { smallest: 64 * 1024, largest: 1024 * 1024 };
const gatheredByAll = 64 * 1024 * 1024;
const chunksInBatch = 256;
/** Bytes after which what was written is sent on to the disk, so that the last fsync finds little left to do. */
const syncStride = 128 * 1024 * 1024;
const smallBlob = 4 * 1024 * 1024;

export async function diskBlobs(options: DiskBlobsOptions): Promise<DiskBlobs> {
  const { directory, digests, fatal, now = () => new Date() } = options;
  const { open = openFile, freeOnDisk = () => freeBytes(directory) } = options;
  const root = join(directory, 'blobs');
  const temporary = join(root, 'tmp');
  const content = join(root, 'sha3');
  const quarantined = join(root, 'quarantine');
  const room = space(options.reserve, freeOnDisk);
  const places = createPlaces(options.places);
  const proofs = createProofs(digests, now);
  /** The uploads under way. */
  const receiving = new Set<string>();
  /** The folders below `content` that are known to survive a power cut. */
  const shards = new Map<string, Promise<string>>();
  /** The last thing that was begun with each content: one at a time, or taking in and removing could cross. */
  const turns = new Map<string, Promise<unknown>>();
  let broken = false;

  for (const folder of [root, temporary, content, quarantined]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  }
  await syncFolder(directory);
  await syncFolder(root);

  /** Makes a file or folder durable, or gives up for good. */
  async function sync(handle: FileHandle): Promise<void> {
    await handle.sync().catch(giveUp);
  }

  function giveUp(cause: unknown): never {
    broken = true;
    const error = new Error('cannot make a blob durable', { cause });
    fatal(error);
    throw error;
  }

  /** Some file systems find out only here that the disk is full: the file is then given up, and no promise was made. */
  async function syncReceived(file: FileHandle, how: 'sync' | 'datasync'): Promise<void> {
    await file[how]().catch((error: unknown) => {
      if (isFull(error)) throw error;
      giveUp(error);
    });
  }

  /** The last thing done to a received file: it bears the time at which it was taken in. */
  async function seal(file: FileHandle): Promise<void> {
    const moment = now();
    await file.utimes(moment, moment);
    await syncReceived(file, 'sync');
  }

  async function syncFolder(path: string): Promise<void> {
    const handle = await open(path, O_RDONLY);
    try {
      await sync(handle);
    } finally {
      await handle.close();
    }
  }

  /** The folder for a content, made when it is first needed. */
  function shard(sha3_384: string): Promise<string> {
    const name = sha3_384.slice(0, 2);
    let made = shards.get(name);
    if (made === undefined) {
      made = makeShard(join(content, name));
      made.catch(() => shards.delete(name));
      shards.set(name, made);
    }
    return made;
  }

  async function makeShard(path: string): Promise<string> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await syncFolder(content);
    return path;
  }

  function inTurn<T>(sha3_384: string, act: () => Promise<T>): Promise<T> {
    const turn = (turns.get(sha3_384) ?? Promise.resolve()).then(act, act);
    turns.set(sha3_384, turn);
    const leave = (): void => {
      if (turns.get(sha3_384) === turn) turns.delete(sha3_384);
    };
    turn.then(leave, leave);
    return turn;
  }

  const path = (sha3_384: string): string => join(content, mustBeDigest(sha3_384).slice(0, 2), sha3_384);

  const quarantinePath = (sha3_384: string): string => join(quarantined, mustBeDigest(sha3_384));

  /** Moves a durable temporary file to its place. */
  async function settle(temporaryFile: string, { sha3_384, size }: TakenBlob): Promise<void> {
    const folder = await shard(sha3_384);
    await inTurn(sha3_384, async () => {
      const place = path(sha3_384);
      // Only what is known to be good may stay: these bytes mend what is not.
      if ((await proofs.holds(sha3_384, place)) && (await renew(place, size))) await unlink(temporaryFile);
      else await rename(temporaryFile, place);
      await Promise.all([syncFolder(folder), syncFolder(temporary)]);
      await proofs.remember(sha3_384, place);
    });
  }

  /** Makes sure of content that is there already; false when it is not, or has the wrong size and must be replaced. */
  async function renew(place: string, size: number): Promise<boolean> {
    const handle = await openPresent(place);
    if (handle === undefined) return false;
    try {
      const there = await handle.stat();
      if (!there.isFile() || there.size !== size) return false;
      const moment = now();
      await handle.utimes(moment, moment);
      await sync(handle);
      return true;
    } finally {
      await handle.close();
    }
  }

  async function openPresent(place: string): Promise<FileHandle | undefined> {
    try {
      return await open(place, O_RDONLY | O_NOFOLLOW);
    } catch (error) {
      // A symbolic link counts as nothing: no blob is ever one.
      if (['ENOENT', 'ELOOP'].includes(String(codeOf(error)))) return undefined;
      throw error;
    }
  }

  /** Fills a new temporary file, makes it durable and moves it to its place; on any error nothing is left. */
  async function take(
    id: string,
    expected: number | undefined,
    fill: (file: FileHandle, path: string, claim: SpaceClaim) => Promise<TakenBlob>,
  ): Promise<TakenBlob> {
    if (!/^[A-Za-z0-9-]{1,64}$/.test(id)) throw new Error('cannot name an upload by anything but letters and digits');
    if (receiving.has(id)) throw new Error(`cannot receive the upload ${id} twice at once`);
    if (broken) throw new Refusal('shutting-down', 'The store is stopping because its disk failed.');
    const claim = room.claim(expected);
    receiving.add(id);
    const temporaryFile = join(temporary, id);
    try {
      const file = await open(temporaryFile, O_WRONLY | O_CREAT | O_EXCL, 0o600);
      try {
        const taken = await fill(file, temporaryFile, claim).finally(() => file.close());
        await settle(temporaryFile, taken);
        return taken;
      } catch (error) {
        await unlink(temporaryFile).catch((left: unknown) => {
          if (codeOf(left) !== 'ENOENT') throw new AggregateError([error, left], `cannot remove the upload ${id}`);
        });
        throw error;
      }
    } catch (error) {
      throw isFull(error) ? diskFull() : error;
    } finally {
      receiving.delete(id);
      claim.release();
    }
  }

  return {
    async receive(source, { id, from = id, limit, expected, ownsChunks = false, wantsSha512, accept }) {
      const place = places.take(from);
      return take(id, expected, async (file, temporaryFile, claim) => {
        const followed = digests.follow(temporaryFile, ['sha3-384', 'sha256']);
        const writer = fileWriter(file, {
          batch: () => Math.max(batch.smallest, Math.min(batch.largest, gatheredByAll / receiving.size)),
          async wrote(size) {
            claim.wrote(size);
            await followed.grown(size);
          },
          sync: () => syncReceived(file, 'datasync'),
          ownsChunks,
        });
        try {
          for await (const chunk of place.watch(source)) {
            if (writer.size + chunk.length > limit) throw tooLarge(limit);
            await writer.write(chunk);
          }
          await writer.end();
          const [found] = await both(followed.end(), seal(file));
          const more = wantsSha512?.() === true ? await digests.ofFile(temporaryFile, ['sha512']) : {};
          const taken = { size: writer.size, sha3_384: found['sha3-384'], sha256: found.sha256, ...more };
          accept?.(taken);
          return taken;
        } finally {
          followed.abandon();
          await writer.idle();
        }
      }).finally(() => place.leave());
    },

    async put(bytes, { id }) {
      if (bytes.length > smallBlob) throw new Error(`cannot put more than ${smallBlob} bytes at once`);
      return take(id, bytes.length, async (file) => {
        await writeWhole(file, [bytes], bytes.length, 0);
        await seal(file);
        const digest = (algorithm: string): string => createHash(algorithm).update(bytes).digest('hex');
        return { size: bytes.length, sha3_384: digest('sha3-384'), sha256: digest('sha256') };
      });
    },

    path,

    async prove(sha3_384) {
      const stored = await storedBlob(path(sha3_384), sha3_384);
      const good = stored !== undefined && (await proofs.prove(sha3_384, path(sha3_384)));
      if (stored !== undefined && !good) options.damaged?.(stored);
      return good;
    },

    stat: async (sha3_384) => storedBlob(path(sha3_384), sha3_384),

    async open(sha3_384, range) {
      const handle = await openPresent(path(sha3_384));
      if (handle === undefined) return undefined;
      try {
        const { size } = await handle.stat();
        if (range !== undefined && !(0 <= range.start && range.start <= range.end && range.end < size)) {
          throw new RangeError(`cannot read bytes ${range.start} to ${range.end} of ${size}`);
        }
        const found = (): Error => {
          options.damaged?.({ sha3_384, size });
          return new Error(`cannot serve the blob ${sha3_384}: it is damaged`);
        };
        if (range !== undefined && !(await proofs.prove(sha3_384, path(sha3_384)))) throw found();
        const stream = handle.createReadStream({ highWaterMark: 256 * 1024, ...range });
        return { size, stream: range === undefined ? provenStream(stream, sha3_384, found) : stream };
      } catch (error) {
        await handle.close();
        throw error;
      }
    },

    async *list(unread) {
      for (const name of (await readdir(content)).sort()) {
        if (!/^[0-9a-f]{2}$/.test(name)) continue;
        try {
          yield* listShard(join(content, name), name);
        } catch (error) {
          if (unread === undefined) throw error;
          unread(error as Error);
        }
      }
    },

    remove: async (sha3_384, { storedBefore } = {}) =>
      inTurn(mustBeDigest(sha3_384), async () => {
        const place = path(sha3_384);
        const stored = await storedBlob(place, sha3_384);
        if (stored === undefined || (storedBefore !== undefined && stored.storedAt >= storedBefore)) return false;
        await unlink(place);
        await syncFolder(await shard(sha3_384));
        return true;
      }),

    quarantine: async (sha3_384) =>
      inTurn(mustBeDigest(sha3_384), async () => {
        const place = path(sha3_384);
        if ((await storedBlob(place, sha3_384)) === undefined) return false;
        await rename(place, quarantinePath(sha3_384));
        await Promise.all([syncFolder(await shard(sha3_384)), syncFolder(quarantined)]);
        return true;
      }),

    quarantined: {
      path: quarantinePath,
      stat: async (sha3_384) => storedBlob(quarantinePath(sha3_384), sha3_384),
    },

    putBack: async (sha3_384) =>
      inTurn(mustBeDigest(sha3_384), async () => {
        const file = await open(quarantinePath(sha3_384), O_RDONLY | O_NOFOLLOW);
        await seal(file).finally(() => file.close());
        const folder = await shard(sha3_384);
        await rename(quarantinePath(sha3_384), path(sha3_384));
        await Promise.all([syncFolder(folder), syncFolder(quarantined)]);
      }),

    async sweepTemporary(isLive) {
      let removed = 0;
      for (const id of await readdir(temporary)) {
        if (receiving.has(id) || (await isLive(id))) continue;
        await unlink(join(temporary, id));
        removed += 1;
      }
      if (removed > 0) await syncFolder(temporary);
      return removed;
    },

    free: async () => Math.max(0, room.free()),
    capacity: async () => diskBytes(directory),
    keepBallast: () => keepBallast(root, room, sync),
    releaseBallast: () => releaseBallast(root),
  };
}

/** Gathers chunks into batches and writes one batch while the next is gathered. */
function fileWriter(
  file: FileHandle,
  by: {
    batch: () => number;
    wrote: (size: number) => Promise<void>;
    sync: () => Promise<void>;
    ownsChunks: boolean;
  },
) {
  let chunks: Uint8Array[] = [];
  let length = 0;
  let size = 0;
  let written = 0;
  let synced = 0;
  let writing: Promise<void> = Promise.resolve();
  let syncing: Promise<void> = Promise.resolve();

  async function writeBatch(gathered: Uint8Array[], bytes: number): Promise<void> {
    await writeWhole(file, gathered, bytes, written);
    if (by.ownsChunks) for (const chunk of gathered) release(chunk);
    written += bytes;
    await by.wrote(written);
    if (written - synced < syncStride) return;
    synced = written;
    await syncing;
    syncing = by.sync();
    syncing.catch(() => undefined);
  }

  async function flush(): Promise<void> {
    await writing;
    writing = writeBatch(chunks, length);
    // Whoever writes next, or ends, hears of a failure; before that it must not count as unhandled.
    writing.catch(() => undefined);
    chunks = [];
    length = 0;
  }

  return {
    get size() {
      return size;
    },
    async write(chunk: Uint8Array): Promise<void> {
      chunks.push(chunk);
      length += chunk.length;
      size += chunk.length;
      if (length >= by.batch() || chunks.length >= chunksInBatch) await flush();
    },
    async end(): Promise<void> {
      if (length > 0) await flush();
      await writing;
      await syncing;
    },
    /** Waits until nothing touches the file any more, well or not. */
    async idle(): Promise<void> {
      await Promise.allSettled([writing, syncing]);
    },
  };
}

/** Left to the garbage collector, the memory of a large upload would make it look through the whole store's again and again. */
function release({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

async function writeWhole(file: FileHandle, chunks: Uint8Array[], length: number, position: number): Promise<void> {
  let { bytesWritten } = await file.writev(chunks, position);
  if (bytesWritten === length) return;
  // A disk that is nearly full takes a part; asked for the rest it says why.
  const whole = Buffer.concat(chunks);
  while (bytesWritten < length) {
    const rest = await file.write(whole, bytesWritten, length - bytesWritten, position + bytesWritten);
    bytesWritten += rest.bytesWritten;
  }
}

/** Both results, once both have ended: an error of one never leaves the other running. */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}

/** The same bytes, the last of them only when all of them together have the digest. */
function provenStream(source: Readable, sha3_384: string, damaged: () => Error): Readable {
  async function* proven(): AsyncGenerator<Buffer> {
    const digest = createHash('sha3-384');
    let held: Buffer | undefined;
    for await (const chunk of source as AsyncIterable<Buffer>) {
      digest.update(chunk);
      if (held !== undefined) yield held;
      held = chunk;
    }
    if (digest.digest('hex') !== sha3_384) throw damaged();
    if (held !== undefined) yield held;
  }
  const stream = Readable.from(proven(), { objectMode: false, highWaterMark: 256 * 1024 });
  // A generator that was never asked for anything does not end its source when it is ended itself.
  return stream.once('close', () => source.destroy());
}

async function* listShard(folder: string, name: string): AsyncGenerator<StoredBlob> {
  for await (const entry of await opendir(folder)) {
    if (!/^[0-9a-f]{96}$/.test(entry.name) || !entry.name.startsWith(name)) continue;
    const stored = await storedBlob(join(folder, entry.name), entry.name);
    if (stored !== undefined) yield stored;
  }
}

async function storedBlob(place: string, sha3_384: string): Promise<StoredBlob | undefined> {
  try {
    const found = await lstat(place);
    return found.isFile() ? { sha3_384, size: found.size, storedAt: found.mtime } : undefined;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

function tooLarge(limit: number): Refusal {
  return new Refusal('request-too-large', `The file is larger than the ${limit} bytes this store accepts.`);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(String(codeOf(error)));
}
