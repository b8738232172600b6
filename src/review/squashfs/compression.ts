// The compressions of an image's blocks. The output never exceeds the caller's limit.
import { constants, inflateSync, zstdDecompressSync } from 'node:zlib';
import { Unacceptable } from '../unacceptable.ts';
import { corruptImage } from './corrupt-image.ts';
import { unpackLz4 } from './lz4.ts';
import { unpackLzo } from './lzo.ts';
import { metadataBlockSize } from './superblock.ts';
import { unpackXz } from './xz.ts';

/** Unpacks one block; throws if it is corrupt or its output would exceed `limit` bytes. */
export type Unpack = (packed: Uint8Array<ArrayBuffer>, limit: number) => Uint8Array;

/** The decompressor of an image, by the number in its superblock. */
export function unpackerOf(compression: number, blockSize: number): Unpack {
  // Blocks of files and of tables share one setting, so the window is as long as the longer of the two.
  const window = Math.max(blockSize, metadataBlockSize);
  switch (compression) {
    case 1:
      return native('gzip', (packed, limit) => inflateSync(packed, { maxOutputLength: limit }));
    case 3:
      return unpackLzo;
    case 5:
      return unpackLz4;
    case 4:
      return (packed, limit) => unpackXz(packed, limit, window);
    case 6: {
      // The window is memory outside of the worker's heap: without this limit a block may require 128 MiB.
      const params = { [constants.ZSTD_d_windowLogMax]: Math.log2(window) };
      return native('zstd', (packed, limit) => zstdDecompressSync(packed, { maxOutputLength: limit, params }));
    }
    case 2:
      throw unsupported('lzma');
    default:
      throw corruptImage(`its compression number ${String(compression)} is unknown`);
  }
}

function unsupported(compression: string): Unacceptable {
  return new Unacceptable(
    `The image is compressed with ${compression}, which is not read here: pack it with xz (what 'snap pack' does by itself) or lzo.`,
  );
}

/** A decompressor of Node; separates errors about the bytes from errors of the system. */
function native(name: string, unpack: Unpack): Unpack {
  return (packed, limit) => {
    try {
      return unpack(packed, limit);
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (code === 'ERR_BUFFER_TOO_LARGE') throw corruptImage(`a ${name} block is longer than ${String(limit)} bytes`);
      if (/^Z_(?:DATA|BUF)_ERROR$|^Z_NEED_DICT$|^ZSTD_error_(?!memory_allocation)/.test(code)) {
        throw corruptImage(`a ${name} block cannot be unpacked`);
      }
      throw error;
    }
  };
}
