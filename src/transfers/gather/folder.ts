// Lists the files of a folder that other tools filled, and detects their kinds from their first bytes.
import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { isDesktopFile } from '#files/desktop-files.ts';
import { block, readHeader, InvalidTarHeader } from '#files/tar-header.ts';
import { Refusal } from '#domain/refusal.ts';
import { describeSystemError } from '#platform/system-errors.ts';

/** Kind of a file, from its first bytes. It selects the reader. */
export type GatheredFileKind = 'squashfs' | 'assertions' | 'zip' | 'json' | 'gzip' | 'tar' | 'other';

export interface GatheredFile {
  path: string;
  /** Its path relative to the named folder, for messages. */
  name: string;
  size: number;
  kind: GatheredFileKind;
  /** The folder that contains it. */
  folder: string;
}

/** A range of a file that contains content. Content in several pieces has several places. */
export interface GatheredRange {
  file: string;
  offset: number;
  size: number;
}

/** Do not follow links, and do not wait for pipes. */
export const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Maximum number of files. No store has this many contents, so a larger folder is a mistake. */
const maxFiles = 500_000;
const maxDepth = 64;

/** Marker files that the script of a request (`fetch.sh`) writes for its downloads. */
const markOfScript = /^\.fetched-[0-9a-f]{16}$/;

interface FolderVisitor {
  file: (file: GatheredFile) => void;
  /** Called with the name of a skipped entry and the reason. */
  passed: (name: string, reason: string) => void;
}

/** Visits all files of a folder recursively in name order. Reports symbolic links without following them. */
export async function visitFolder(folder: string, prefix: string, visitor: FolderVisitor): Promise<void> {
  let count = 0;
  const enter = async (path: string, name: string, depth: number): Promise<void> => {
    if (depth > maxDepth) {
      visitor.passed(name, 'It is nested too deeply in the folder.');
      return;
    }
    const entries = (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const [inner, called] = [join(path, entry.name), name === '' ? entry.name : `${name}/${entry.name}`];
      if (markOfScript.test(entry.name) || isDesktopFile(inner)) continue;
      if (++count > maxFiles) {
        throw new Refusal(
          'api-error',
          `There are more than ${String(maxFiles)} files in the folder. Use a folder with fewer files.`,
        );
      }
      if (entry.isSymbolicLink()) visitor.passed(called, 'It is a symbolic link, and links are not followed.');
      else if (entry.isDirectory()) await enter(inner, called, depth + 1);
      else if (entry.isFile()) await visitFile(inner, called, visitor);
      else visitor.passed(called, 'It is neither a file nor a folder.');
    }
  };
  await enter(folder, prefix, 0);
}

async function visitFile(path: string, name: string, visitor: FolderVisitor): Promise<void> {
  try {
    const { size } = await lstat(path);
    visitor.file({ path, name, size, kind: kindOf(await readAt(path, 0, block), size), folder: dirname(path) });
  } catch (error) {
    visitor.passed(name, `It cannot be read: ${describeSystemError(error)}.`);
  }
}

/** Reads up to `length` bytes from `position`, fewer at the end of the file. */
export async function readAt(path: string, position: number, length: number): Promise<Buffer> {
  const handle = await open(path, openFlags);
  try {
    const bytes = Buffer.alloc(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return bytes.subarray(0, done);
  } finally {
    await handle.close();
  }
}

function kindOf(begin: Buffer, size: number): GatheredFileKind {
  const text = begin.toString('latin1', 0, 6);
  if (text.startsWith('hsqs')) return 'squashfs';
  if (text.startsWith('type: ')) return 'assertions';
  if (text.startsWith('PK\u0003\u0004')) return 'zip';
  if (text.startsWith('\u001f\u008b')) return 'gzip';
  if (/^\s*[[{]/.test(begin.toString('latin1'))) return 'json';
  return size >= block && isTar(begin) ? 'tar' : 'other';
}

function isTar(begin: Buffer): boolean {
  try {
    return readHeader(begin) !== undefined;
  } catch (error) {
    if (error instanceof InvalidTarHeader) return false;
    throw error;
  }
}
