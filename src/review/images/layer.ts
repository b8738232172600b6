// Reads files from a layer of an image: a tar archive, compressed or not, that is scanned once while it is unpacked,
// and never stored. A layer is untrusted, so memory and unpacked bytes are bounded.
import { Readable, type Transform } from 'node:stream';
import { constants, createGunzip, createZstdDecompress } from 'node:zlib';

import xz from 'xz-decompress';

import { block, padding, type TarHeader } from '#files/tar-header.ts';
import type { UploadBytes } from '../squashfs/source.ts';
import { nextHeader, readExtension, type TarFile } from './tar.ts';
import { Unacceptable } from '../unacceptable.ts';

/** How many bytes may still be unpacked, over all layers. */
export interface Budget {
  left: number;
}

/**
 * The result for a file in one layer: its content; `hidden` if the layer deletes it or replaces it by something else;
 * or undefined, so that the layers below decide. A layer that cannot be unpacked gives undefined.
 */
export type LayerFinding = Uint8Array | 'hidden' | undefined;

const piece = 256 << 10;
const magicBytes = 6;
const maxExtensionBytes = 64 << 10;

/** Finds the file `folder/name`; returns at most `maxBytes` bytes, and one more if it is longer. */
export async function findInLayer(
  source: UploadBytes,
  layer: TarFile,
  { folder, name, maxBytes }: { folder: string; name: string; maxBytes: number },
  budget: Budget,
): Promise<LayerFinding> {
  const path = `${folder}/${name}`;
  const hides = [folder, `.wh.${folder}`, '.wh..wh..opq', `${folder}/.wh.${name}`, `${folder}/.wh..wh..opq`, path];
  let finding: LayerFinding;
  await visitLayer(source, layer, budget, async ({ type, size, name: entryName }, take) => {
    const called = pathOf(entryName);
    if (called === path && isFile(type)) {
      finding = await take(Math.min(size, maxBytes + 1));
      return 'end';
    }
    if (hides.includes(called) && !(called === folder && type === '5')) finding = 'hidden';
    return undefined;
  });
  return finding;
}

/** Visits the entries of a layer in its order, until `visit` returns `end`. Returns why the layer cannot be read to its end. */
export async function visitLayer(
  source: UploadBytes,
  layer: TarFile,
  budget: Budget,
  visit: (entry: TarHeader, take: (length: number) => Promise<Uint8Array>) => Promise<'end' | undefined>,
): Promise<string | undefined> {
  const content = unpacked(source, layer, budget);
  try {
    for (let entry = await nextEntry(content); entry !== undefined; entry = await nextEntry(content)) {
      let left = entry.size + padding(entry.size);
      const take = (length: number): Promise<Uint8Array> => {
        left -= length;
        return content.take(length);
      };
      if ((await visit(entry, take)) === 'end') return undefined;
      await content.skip(left);
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof Unreadable || error instanceof Unacceptable)) throw error;
    return error.message;
  } finally {
    content.end();
  }
}

/** The path of an entry from the root of the image, without a slash at either end. */
export const pathOf = (name: string): string => name.replace(/^(?:\.?\/)+/, '').replace(/\/$/, '');

/** The header of the next entry, with its extended headers applied. */
async function nextEntry(content: LayerReader): Promise<TarHeader | undefined> {
  let extended: { path?: string; size?: number } = {};
  for (;;) {
    const header = nextHeader(await content.take(block));
    if (header === undefined) return undefined;
    const { type, size } = header;
    if (type === 'x' && size <= maxExtensionBytes) {
      extended = readExtension(Buffer.from(await content.take(size)));
      await content.skip(padding(size));
    } else if (type === 'g' || type === 'x' || type === 'K' || type === 'L') {
      // A name that needs a GNU long-name header is never the one searched for.
      if (type === 'L') extended = { ...extended, path: '…' };
      await content.skip(size + padding(size));
    } else {
      return { type, name: extended.path ?? header.name, size: isFile(type) ? (extended.size ?? size) : 0 };
    }
  }
}

export const isFile = (type: string): boolean => type === '0' || type === '\0';

/** The layer ends too early, is not in its format, or unpacks to too much. */
class Unreadable extends Error {}

interface LayerReader {
  take(length: number): Promise<Uint8Array>;
  skip(length: number): Promise<void>;
  end(): void;
}

/** The unpacked bytes of a layer. */
function unpacked(source: UploadBytes, layer: TarFile, budget: Budget): LayerReader {
  let fault: Error | undefined;
  function* packed(): Generator<Uint8Array> {
    try {
      for (let done = 0; done < layer.size; done += piece) {
        yield source.read(layer.start + done, Math.min(piece, layer.size - done));
      }
    } catch (error) {
      fault = error instanceof Error ? error : new Error(String(error));
      throw fault;
    }
  }
  const input = Readable.from(packed(), { objectMode: false });
  const begin = source.read(layer.start, Math.min(magicBytes, layer.size));
  const stream = unpackerFor(begin)?.(input) ?? input;
  const chunks = stream.iterator() as AsyncIterator<Uint8Array, undefined>;
  let held: Uint8Array = new Uint8Array();

  async function more(): Promise<void> {
    const next = await chunks.next().catch((error: unknown) => {
      // A read error of the disk says nothing about the layer.
      if (fault !== undefined) throw fault;
      throw new Unreadable('it cannot be unpacked', { cause: error });
    });
    if (next.done === true) throw new Unreadable('it ends too early');
    budget.left -= next.value.length;
    if (budget.left < 0) throw new Unreadable('it unpacks to more than is looked through');
    held = next.value;
  }

  return {
    async take(length: number): Promise<Uint8Array> {
      const taken = new Uint8Array(length);
      for (let done = 0; done < length;) {
        if (held.length === 0) await more();
        const part = held.subarray(0, length - done);
        taken.set(part, done);
        held = held.subarray(part.length);
        done += part.length;
      }
      return taken;
    },
    async skip(length: number): Promise<void> {
      for (let left = length; left > 0;) {
        if (held.length === 0) await more();
        const part = Math.min(left, held.length);
        held = held.subarray(part);
        left -= part;
      }
    },
    end(): void {
      input.destroy();
      stream.destroy();
    },
  };
}

const through =
  (create: () => Transform) =>
  (packed: Readable): Readable => {
    const unpacker = create();
    packed.on('error', (error) => unpacker.destroy(error));
    return packed.pipe(unpacker);
  };

/** How bytes are unpacked, by their first ones in hex. */
const unpackers: readonly (readonly [magic: string, unpack: (packed: Readable) => Readable])[] = [
  ['1f8b', through(() => createGunzip({ chunkSize: piece }))],
  [
    '28b52ffd',
    // The window is memory outside of the worker's heap: without this limit a layer may require 2 GiB.
    through(() => createZstdDecompress({ chunkSize: piece, params: { [constants.ZSTD_d_windowLogMax]: 25 } })),
  ],
  ['fd377a585a00', (packed) => Readable.fromWeb(new xz.XzReadableStream(Readable.toWeb(packed)))],
];

/** The format follows from the first bytes, as for every client: media types are not always correct. */
const unpackerFor = (begin: Uint8Array) => {
  const hex = Buffer.from(begin.subarray(0, magicBytes)).toString('hex');
  return unpackers.find(([magic]) => hex.startsWith(magic))?.[1];
};

/** Whether bytes that begin like this are unpacked before their tar archive is read. */
export const isPacked = (begin: Uint8Array): boolean => unpackerFor(begin) !== undefined;
