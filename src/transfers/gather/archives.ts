// Archives that are carried as a whole by other tools: tar and gzip, such as exports of stores. They are unpacked into a folder of
// their own, and what they hold is looked at as if it had lain there.
import { closeSync, createReadStream, openSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';

import { block, readHeader } from '#files/tar-header.ts';
import { writeWhole } from '#files/streamed.ts';
import { fileSource } from '#review/squashfs/source.ts';
import { listTar, type TarFile } from '#review/tar.ts';
import { Unacceptable } from '#review/unacceptable.ts';
import { plainly, readAt, type FoundFile } from './folder.ts';

/** Beyond this an archive is a bomb when it grows more than two hundredfold. */
const harmless = 256 * 1024 * 1024;
const steepest = 200;

/** The name of the first file in an archive, which says what kind of it this is. */
export async function firstMember({ path }: Pick<FoundFile, 'path'>): Promise<string> {
  return readHeader(await readAt(path, 0, block))?.name ?? '';
}

/** The names of the files in an archive; a sentence where it cannot be read. */
export function namesIn({ path }: Pick<FoundFile, 'path'>): ReadonlySet<string> | string {
  const listed = filesIn(path);
  return typeof listed === 'string' ? listed : new Set(listed.keys());
}

function filesIn(path: string): ReadonlyMap<string, TarFile> | string {
  const handle = openSync(path, plainly);
  try {
    return listTar(fileSource(handle));
  } catch (error) {
    if (error instanceof Unacceptable) return error.sentences.join(' ');
    throw error;
  } finally {
    closeSync(handle);
  }
}

/** What the system says of a name that is a file and a folder in one archive, or too long. */
const impossible = new Set(['EEXIST', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG']);

/** Unpacks an archive into a folder; a sentence where it is none, or would grow beyond measure. */
export async function unpack({ path, kind, size }: FoundFile, folder: string): Promise<string | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const whole = `${folder}.tar`;
  try {
    if (kind === 'tar') return await extract(path, folder);
    await writeWhole(whole, bounded(path, size), 0o600);
    return await extract(whole, folder);
  } catch (error) {
    if (error instanceof Unacceptable) return error.sentences.join(' ');
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code.startsWith('Z_')) return 'It is damaged: it cannot be unpacked.';
    if (impossible.has(code)) return 'It holds names that no folder can hold together, so it cannot be unpacked.';
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
        throw new Unacceptable('It would grow more than two hundredfold when it is unpacked: no export does.');
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
    await writeWhole(
      target,
      size === 0 ? '' : (createReadStream(path, { start, end: start + size - 1 }) as AsyncIterable<Buffer>),
      0o600,
    );
  }
  return undefined;
}
