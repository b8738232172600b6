// Images for the tests, made without squashfs-tools, and how they are read. mksquashfs.ts makes others.
import { openSync, closeSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

import { fileSource, type UploadBytes } from '#review/squashfs/source.ts';
import { squashfsImage, type EntryTree } from '#test/fixtures/packages/squashfs-image.ts';

/** Whether tests run with the large numbers that take minutes. */
export const long = process.env['LARDER_LONG'] === '1';

/** Packs files into an image without mksquashfs, and returns its path. */
export function pack(t: Test, tree: EntryTree): string {
  const image = join(t.testdir({}), 'tree.snap');
  writeFileSync(image, squashfsImage(tree));
  return image;
}

/** A file as a source that is closed with the test. */
export function opened(t: Test, path: string): UploadBytes {
  const file = openSync(path, 'r');
  t.teardown(() => {
    closeSync(file);
  });
  return fileSource(file);
}

/** An image in memory; a read outside of it is a fault of the reader, and fails the test. */
export function inMemory(bytes: Uint8Array): UploadBytes {
  return {
    size: bytes.length,
    read(position, length) {
      if (position < 0 || length < 0 || length > 1 << 20 || position + length > bytes.length) {
        throw new Error(`cannot read ${String(length)} bytes at ${String(position)}`);
      }
      return new Uint8Array(bytes.subarray(position, position + length));
    },
  };
}

/** Bytes that look random and are the same every time. */
export function noise(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed >>> 0 || 1;
  for (let at = 0; at < length; at++) {
    state = (state ^ (state << 13)) >>> 0;
    state = (state ^ (state >>> 17)) >>> 0;
    state = (state ^ (state << 5)) >>> 0;
    bytes[at] = state >>> 8;
  }
  return bytes;
}

export const snapYaml = (name: string, more = '') => `name: ${name}\nversion: '1.10'\n${more}`;
