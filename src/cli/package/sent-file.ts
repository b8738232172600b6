// A file on this host that is sent to the store: opened with the rights of whoever typed the command, and taken in like any
// upload, by the owner of the data directory.
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';

import { mendBlob } from '#acts/integrity.ts';
import type { Blobs, Chunks, TakenBlob } from '#blobs/blobs.ts';
import { timestamp } from '#domain/clock.ts';
import { Failure } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { cannotRead } from '../frame/outside.ts';
import type { AsCaller } from '../frame/owner.ts';
import type { Progress } from '../frame/progress.ts';
import type { OpenStore } from '../frame/store.ts';

/** An open file, whose bytes have not been read. */
export interface SentFile {
  /** As it was named. */
  name: string;
  handle: FileHandle;
  /** Bytes. */
  size: number;
}

/** Where such an upload came from, for the audit log. */
export const thisHost = 'this host';

/** How much is read at once. */
const piece = 256 * 1024;

/**
 * Does work with a file, which is opened with the rights of whoever typed the command: before the store is opened, which ends
 * them, or by `asCaller`.
 */
export async function withSentFile<Result>(
  name: string,
  work: (file: SentFile) => Promise<Result>,
  asCaller: AsCaller = async (opening) => opening(),
): Promise<Result> {
  const path = resolve(name);
  let handle: FileHandle;
  try {
    // A pipe would wait for somebody to write to it.
    handle = await asCaller(() => open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  } catch (cause) {
    throw cannotRead(path, cause);
  }
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw new Failure(`${path} is a folder; name the file in it that is meant`, wrongFile);
    if (!found.isFile()) throw new Failure(`${path} is not a file`, wrongFile);
    if (found.size === 0) throw new Failure(`${path} is empty`, wrongFile);
    return await work({ name, handle, size: found.size });
  } finally {
    await handle.close();
  }
}

const wrongFile = { code: 'wrong-file' };

/** All of a file, in pieces; one that is not as long as it was is refused. */
export async function* piecesOf({ name, handle, size }: SentFile, ended?: AbortSignal): AsyncGenerator<Buffer> {
  let done = 0;
  for (;;) {
    ended?.throwIfAborted();
    const { bytesRead, buffer } = await handle
      .read(Buffer.allocUnsafe(piece), 0, piece, done)
      .catch((cause: unknown) => {
        throw cannotRead(resolve(name), cause);
      });
    if (bytesRead === 0) break;
    done += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  if (done !== size) throw changed(name, `it had ${size} bytes, and ${done} came`);
}

const changed = (name: string, how: string): Failure =>
  new Failure(`${name} was changed while it was read: ${how}`, wrongFile);

/**
 * Takes a file in as an upload that no package has claimed; its id. Of one that is broken off, or has another digest than
 * was expected, nothing is left.
 */
export async function takeIn(
  { records, acts, config, now, newId, person }: OpenStore,
  blobs: Pick<Blobs, 'receive'>,
  file: SentFile,
  progress: Progress,
  expected?: string,
): Promise<string> {
  const { name, size } = file;
  const id = newId.uuid();
  async function* content(ended: AbortSignal): AsyncGenerator<Chunks> {
    let done = 0;
    for await (const some of piecesOf(file, ended)) {
      done += some.length;
      progress.at(`reading ${name}`, done, size);
      yield [some];
    }
  }
  const accept = ({ sha3_384 }: TakenBlob): void => {
    if (expected !== undefined && sha3_384 !== expected) throw changed(name, 'its digest is another one now');
  };
  const limit = config.uploads.max_size;
  const taken = await interruptible((ended) => blobs.receive(content(ended), { id, limit, expected: size, accept }));
  const upload = { id, ...taken, address: thisHost, receivedAt: timestamp(now()) };
  await records.passing(({ unclaimedUploads }) => unclaimedUploads.add(upload));
  // Content that was damaged is good again when the same comes in.
  if (await records.damagedBlobs.has(taken.sha3_384)) await acts.do(mendBlob, person, { sha3_384: taken.sha3_384 });
  return id;
}
