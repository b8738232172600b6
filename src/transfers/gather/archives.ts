// Unpacks archives that other tools made (tar and gzip, such as store exports) into a separate folder, so that their files are gathered
// like others.
import { closeSync, createReadStream, openSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';

import { block, readHeader } from '#files/tar-header.ts';
import { createDurableFile } from '#files/durable-streams.ts';
import { fileSource } from '#review/squashfs/source.ts';
import { listTar, type TarFile } from '#review/images/tar.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { openFlags, readAt, type GatheredFile } from './folder.ts';

/** Limits against decompression bombs: above this size, an archive must not expand more than two hundredfold. */
const harmless = 256 * 1024 * 1024;
const steepest = 200;

/** Returns the name of the first file in an archive, which identifies its kind. */
export async function firstMember({ path }: Pick<GatheredFile, 'path'>): Promise<string> {
  return readHeader(await readAt(path, 0, block))?.name ?? '';
}

/** Returns the names of the files in an archive, or a sentence if it is unreadable. */
export function namesIn({ path }: Pick<GatheredFile, 'path'>): ReadonlySet<string> | string {
  const listed = filesIn(path);
  return typeof listed === 'string' ? listed : new Set(listed.keys());
}

function filesIn(path: string): ReadonlyMap<string, TarFile> | string {
  const handle = openSync(path, openFlags);
  try {
    return listTar(fileSource(handle));
  } catch (error) {
    if (error instanceof Unacceptable) return error.sentences.join(' ');
    throw error;
  } finally {
    closeSync(handle);
  }
}

/** System errors for an archive with the same name for a file and a folder, or with a name that is too long. */
const impossible = new Set(['EEXIST', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG']);

/** Unpacks an archive into a folder. Returns a sentence if it is invalid or would grow too large. */
export async function unpack({ path, kind, size }: GatheredFile, folder: string): Promise<string | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const whole = `${folder}.tar`;
  try {
    if (kind === 'tar') return await extract(path, folder);
    await createDurableFile(whole, bounded(path, size), 0o600);
    return await extract(whole, folder);
  } catch (error) {
    if (error instanceof Unacceptable) return error.sentences.join(' ');
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code.startsWith('Z_')) return 'It is corrupt: it cannot be unpacked.';
    if (impossible.has(code)) return 'It has names that cannot be in one folder, so it cannot be unpacked.';
    throw error;
  } finally {
    await rm(whole, { force: true });
  }
}

async function* bounded(path: string, size: number): AsyncGenerator<Uint8Array> {
  let grown = 0;
  const packed = createReadStream(path, { highWaterMark: 1 << 20 });
  const stream = packed.pipe(createGunzip({ chunkSize: 1 << 18 }));
  packed.on('error', (error) => stream.destroy(error));
  try {
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      grown += bytes.length;
      if (grown > harmless && grown > size * steepest)
        throw new Unacceptable('It would grow more than 200 times when it is unpacked, so it is not an export.');
      yield bytes;
    }
  } finally {
    packed.destroy();
  }
}

async function extract(path: string, folder: string): Promise<string | undefined> {
  const files = filesIn(path);
  if (typeof files === 'string') return files;
  for (const [name, { start, size }] of files) {
    const target = join(folder, name);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await createDurableFile(
      target,
      size === 0 ? '' : (createReadStream(path, { start, end: start + size - 1 }) as AsyncIterable<Buffer>),
      0o600,
    );
  }
  return undefined;
}
