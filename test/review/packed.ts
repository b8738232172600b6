// Images made for the tests by Debian's squashfs-tools; nothing but tests starts another program.
import { execFileSync } from 'node:child_process';
import { mkdirSync, openSync, closeSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { fileSource, type Source } from '#review/squashfs/source.ts';

/** Whether tests run with the large numbers that take minutes. */
export const long = process.env['LARDER_LONG'] === '1';

/** What a test says when it cannot run, or false: the value of tap's `skip`. */
export const withoutSquashfsTools = missing('mksquashfs', '-version', 'squashfs-tools');
export const withoutXz = missing('xz', '--version', 'xz-utils');

function missing(program: string, argument: string, debianPackage: string): string | false {
  try {
    execFileSync(program, [argument], { stdio: 'ignore' });
    return false;
  } catch {
    return `${program} is not installed (Debian: ${debianPackage})`;
  }
}

/** Files by path; a symbolic link is `{ link }`. */
export type Tree = Record<string, string | Uint8Array | { link: string }>;

/** What `snap pack` gives to mksquashfs, for one of its two compressions. */
export const asSnapPack = (compression: 'xz' | 'lzo') => [
  '-comp',
  compression,
  '-no-fragments',
  '-all-root',
  '-no-xattrs',
];

export function grow(folder: string, tree: Tree): string {
  for (const [path, content] of Object.entries(tree)) {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(place, content);
    else symlinkSync(content.link, place);
  }
  return folder;
}

/** Packs a folder; answers the image's path. */
export function packFolder(folder: string, options: string[]): string {
  const image = `${folder}.snap`;
  execFileSync('mksquashfs', [folder, image, '-noappend', '-no-progress', '-quiet', ...options], { stdio: 'pipe' });
  return image;
}

export function pack(t: Test, tree: Tree, options: string[] = asSnapPack('xz')): string {
  return packFolder(grow(join(t.testdir({}), 'tree'), tree), options);
}

/** A file as a source that is closed with the test. */
export function opened(t: Test, path: string): Source {
  const file = openSync(path, 'r');
  t.teardown(() => {
    closeSync(file);
  });
  return fileSource(file);
}

/** An image in memory; a read outside of it is a fault of the reader, and fails the test. */
export function inMemory(bytes: Uint8Array): Source {
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
