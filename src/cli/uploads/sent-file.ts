// Uploads a file of this host: the caller's rights open it, and the owner of the data directory stores it like any upload.
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';

import { markBlobRepaired } from '#acts/store/integrity.ts';
import type { Blobs, Chunks, ReceivedBlob } from '#blobs/blobs.ts';
import { timestamp } from '#domain/clock.ts';
import { Failure } from '../frame/command.ts';
import { interruptible } from '../frame/interruption.ts';
import { toReadFailure } from '../frame/outside-files.ts';
import type { AsCaller } from '../frame/owner.ts';
import type { ProgressReporter } from '../frame/progress.ts';
import type { OpenStore } from '../frame/store.ts';

/** An open file that has not been read yet. */
export interface SentFile {
  /** The name as typed. */
  name: string;
  handle: FileHandle;
  /** Bytes. */
  size: number;
}

/** The address of such an upload in the audit log. */
export const hostAddress = 'this host';

/** Bytes per read. */
const piece = 256 * 1024;

/**
 * Opens a file with the rights of the caller, and runs work with it. Call it before the store is opened, which drops those
 * rights, or pass `asCaller`.
 */
export async function withSentFile<Result>(
  name: string,
  work: (file: SentFile) => Promise<Result>,
  asCaller: AsCaller = async (opening) => opening(),
): Promise<Result> {
  const path = resolve(name);
  let handle: FileHandle;
  try {
    // Without O_NONBLOCK, opening a named pipe waits for a writer.
    handle = await asCaller(() => open(path, constants.O_RDONLY | constants.O_NONBLOCK));
  } catch (cause) {
    throw toReadFailure(path, cause);
  }
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw new Failure(`${path} is a folder; name the file in it that is meant`, wrongFile);
    if (!stats.isFile()) throw new Failure(`${path} is not a file`, wrongFile);
    if (stats.size === 0) throw new Failure(`${path} is empty`, wrongFile);
    return await work({ name, handle, size: stats.size });
  } finally {
    await handle.close();
  }
}

const wrongFile = { code: 'wrong-file' };

/** Reads a file in pieces; throws if its size has changed. */
export async function* piecesOf({ name, handle, size }: SentFile, ended?: AbortSignal): AsyncGenerator<Buffer> {
  let done = 0;
  for (;;) {
    ended?.throwIfAborted();
    const { bytesRead, buffer } = await handle
      .read(Buffer.allocUnsafe(piece), 0, piece, done)
      .catch((cause: unknown) => {
        throw toReadFailure(resolve(name), cause);
      });
    if (bytesRead === 0) break;
    done += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  if (done !== size) throw changed(name, `it had ${size} bytes, and ${done} came`);
}

/** The content of a file as it is received into the store. */
export async function* chunksOf(
  file: SentFile,
  progress: ProgressReporter,
  ended: AbortSignal,
): AsyncGenerator<Chunks> {
  let done = 0;
  for await (const some of piecesOf(file, ended)) {
    done += some.length;
    progress.at(`reading ${file.name}`, done, file.size);
    yield [some];
  }
}

const changed = (name: string, how: string): Failure =>
  new Failure(`${name} was changed while it was read: ${how}`, wrongFile);

/**
 * Uploads a file without claiming it for a package; returns the id of the upload. Leaves nothing behind if it is interrupted or
 * the digest is not the expected one.
 */
export async function uploadFile(
  { records, acts, config, now, newId, person }: OpenStore,
  blobs: Pick<Blobs, 'receive'>,
  file: SentFile,
  progress: ProgressReporter,
  expected?: string,
): Promise<string> {
  const { name, size } = file;
  const id = newId.uuid();
  const accept = ({ sha3_384 }: ReceivedBlob): void => {
    if (expected !== undefined && sha3_384 !== expected) throw changed(name, 'its digest is another one now');
  };
  const limit = config.uploads.max_size;
  const taken = await interruptible((ended) =>
    blobs.receive(chunksOf(file, progress, ended), { id, limit, expected: size, accept }),
  );
  const upload = { id, ...taken, address: hostAddress, receivedAt: timestamp(now()) };
  await records.ephemeral(({ unclaimedUploads }) => unclaimedUploads.add(upload));
  // A new copy of the content repairs a corrupt blob.
  if (await records.damagedBlobs.has(taken.sha3_384))
    await acts.do(markBlobRepaired, person, { sha3_384: taken.sha3_384 });
  return id;
}
