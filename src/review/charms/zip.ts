// Reads a zip archive of an upload: its list of entries within limits, and single small files. Other files are not
// unpacked, so a decompression bomb does no harm here; a bomb that would harm clients is refused.
import { crc32, inflateRawSync } from 'node:zlib';

import { fromRandomAccessReader, RandomAccessReader, type Entry, type ZipFile } from 'yauzl';

import type { UploadBytes } from '../squashfs/source.ts';
import { Unacceptable, plain, quoted } from '../unacceptable.ts';

export interface Zip {
  /** Whether the archive has this file, which must be in the list that it was opened with. */
  has(name: string): boolean;
  /** The content of a file; undefined if the archive has no such file. */
  read(name: string): Uint8Array | undefined;
  /** The content as text; refused if it is not UTF-8. */
  text(name: string): string | undefined;
}

const maxEntries = 50_000;
const longestName = 1024;
const deepest = 40;
const longestNames = 8 << 20;
/** The maximum size of a file that is read. */
const maxFileBytes = 1 << 20;
const maxLinks = 2_000;
const longestLink = 1024;
/** An archive that unpacks to more than this is a bomb if it grows more than two hundredfold. */
const harmless = 256 << 20;
const steepest = 200;

const fileTypes = { mask: 0o170000, none: 0, file: 0o100000, directory: 0o040000, link: 0o120000 };

/** Opens an archive to read the files in `fileNames`. Throws `Unacceptable`. */
export function openZip(source: UploadBytes, fileNames: readonly string[]): Zip {
  const archive = openArchive(source, 1 << 18);
  const files = new Map<string, Entry>();
  const names = new Map<string, 'file' | 'directory'>();
  const links: Entry[] = [];
  let [letters, packed, unpacked] = [0, 0, 0];
  if (archive.entryCount > maxEntries) {
    throw new Unacceptable(
      `The archive has ${archive.entryCount} entries, but at most ${maxEntries} are accepted: leave some out.`,
    );
  }
  for (let count = 0; count < archive.entryCount; count++) {
    const entry = nextEntry(archive);
    const isDirectory = entry.fileName.endsWith('/');
    const name = isDirectory ? entry.fileName.slice(0, -1) : entry.fileName;
    letters += name.length;
    packed += entry.compressedSize;
    unpacked += entry.uncompressedSize;
    refuseBadName(name);
    if (letters > longestNames)
      throw new Unacceptable('The names in the archive are too long altogether: shorten them.');
    if (names.has(name)) throw new Unacceptable(`The archive holds ${quoted(name)} twice: pack it again.`);
    names.set(name, isDirectory ? 'directory' : 'file');
    if (entry.isEncrypted())
      throw new Unacceptable(`${quoted(name)} in the archive is encrypted: pack it again without.`);
    const type = typeOf(entry);
    if (type === fileTypes.link) links.push(entry);
    else if (type !== fileTypes.none && type !== fileTypes.file && type !== fileTypes.directory) {
      throw new Unacceptable(`${quoted(name)} in the archive is a device, pipe or socket: leave it out.`);
    }
    if (fileNames.includes(entry.fileName)) files.set(entry.fileName, entry);
  }
  if (packed > source.size) throw new Unacceptable('The entries of the archive overlap one another: pack it again.');
  if (unpacked > harmless && unpacked > source.size * steepest) {
    throw new Unacceptable(
      `The archive would grow from ${source.size} to ${unpacked} bytes when it is unpacked: no package does.`,
    );
  }
  refuseFilesAsDirectories(names);
  if (links.length > maxLinks)
    throw new Unacceptable(`The archive has more than ${maxLinks} symbolic links: leave some out.`);
  for (const link of links) refuseLinkOutside(link, contentOf(archive, source, link, longestLink));

  function read(name: string): Uint8Array | undefined {
    const entry = files.get(name);
    if (entry === undefined) return undefined;
    if (typeOf(entry) === fileTypes.link)
      throw new Unacceptable(`${name} in the archive is a symbolic link, but must be a file of its own.`);
    return contentOf(archive, source, entry, maxFileBytes);
  }
  return {
    has: (name) => files.has(name),
    read,
    text(name) {
      const bytes = read(name);
      return bytes && textOf(name, bytes);
    },
  };
}

function textOf(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Unacceptable(`${name} is not text in UTF-8: save it as such.`);
  }
}

/** Gives yauzl bytes from a window, so that a list of many entries takes few reads, and synchronously. */
class ZipWindow extends RandomAccessReader {
  readonly #source: UploadBytes;
  readonly #windowBytes: number;
  #bytes: Uint8Array = new Uint8Array();
  #start = 0;

  constructor(source: UploadBytes, windowBytes: number) {
    super();
    this.#source = source;
    this.#windowBytes = windowBytes;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, count?: number) => void,
  ): void {
    const end = Math.min(this.#source.size, position + length);
    if (position >= end) {
      callback(null, 0);
      return;
    }
    if (position < this.#start || end > this.#start + this.#bytes.length) {
      this.#bytes = this.#source.read(
        position,
        Math.min(Math.max(length, this.#windowBytes), this.#source.size - position),
      );
      this.#start = position;
    }
    buffer.set(this.#bytes.subarray(position - this.#start, end - this.#start), offset);
    callback(null, end - position);
  }
}

const damaged = (problem: string): Unacceptable =>
  new Unacceptable(`The file is no zip archive that can be read: ${plain(problem)}. Pack it again.`);

/**
 * yauzl uses callbacks. The window answers synchronously, so they are called synchronously, too; if one is not called,
 * there was nothing to read, which means a corrupt archive.
 */
function callSynchronously<Result>(ask: (callback: (error: Error | null, result: Result) => void) => void): Result {
  let answer: { error: Error | null; result: Result } | undefined;
  ask((error, result) => {
    answer ??= { error, result };
  });
  if (answer === undefined) throw damaged('a part of it is empty');
  if (answer.error) throw damaged(answer.error.message);
  return answer.result;
}

/**
 * Opens an archive, to read its list of entries with `nextEntry`. `windowBytes` are read at once: few, if contents are
 * read between the entries.
 */
export const openArchive = (source: UploadBytes, windowBytes: number): ZipFile => {
  const options = { lazyEntries: true, autoClose: false, strictFileNames: true };
  const archive = callSynchronously<ZipFile>((callback) => {
    fromRandomAccessReader(new ZipWindow(source, windowBytes), source.size, options, callback);
  });
  return archive;
};

export function nextEntry(archive: ZipFile): Entry {
  return callSynchronously<Entry>((callback) => {
    archive.removeAllListeners();
    archive.once('entry', (entry: Entry) => {
      callback(null, entry);
    });
    archive.on('error', (error: Error) => {
      callback(error, undefined as never);
    });
    archive.readEntry();
  });
}

/** The file type that a Unix packer recorded; 0 if there is none. */
const typeOf = (entry: Entry): number =>
  entry.versionMadeBy >> 8 === 3 ? (entry.externalFileAttributes >>> 16) & fileTypes.mask : 0;

function refuseBadName(name: string): void {
  const parts = name.split('/');
  const problem =
    name === '' || parts.includes('') || parts.includes('.')
      ? 'has an empty part'
      : name.length > longestName
        ? `is longer than ${longestName} characters`
        : parts.length > deepest
          ? `is deeper than ${deepest} directories`
          : /[\0-\x1f\x7f]/.test(name)
            ? 'has a control character'
            : undefined;
  if (problem !== undefined) throw new Unacceptable(`The name ${quoted(name)} in the archive ${problem}: rename it.`);
}

/** A file `a` and a file `a/b` would mean different things to different readers. */
function refuseFilesAsDirectories(names: Map<string, 'file' | 'directory'>): void {
  const checkedParents = new Set<string>();
  for (const name of names.keys()) {
    for (let slash = name.lastIndexOf('/'); slash > 0; slash = name.lastIndexOf('/', slash - 1)) {
      const parent = name.slice(0, slash);
      if (checkedParents.has(parent)) break;
      checkedParents.add(parent);
      if (names.get(parent) === 'file') {
        throw new Unacceptable(`The archive holds ${quoted(parent)} as a file and as a directory: pack it again.`);
      }
    }
  }
}

function refuseLinkOutside({ fileName }: Entry, content: Uint8Array): void {
  const target = Buffer.from(content).toString();
  let depth = fileName.split('/').length - 1;
  const parts = target.split('/');
  for (const part of parts) {
    if (part === '..') depth--;
    else if (part !== '.' && part !== '') depth++;
    if (depth < 0) break;
  }
  if (depth >= 0 && !target.startsWith('/') && target !== '') return;
  throw new Unacceptable(
    `The symbolic link ${quoted(fileName)} leads out of the archive, to ${quoted(target)}: remove it.`,
  );
}

/** The content of an entry, verified against its checksum. */
export function contentOf(archive: ZipFile, source: UploadBytes, entry: Entry, maxBytes: number): Uint8Array {
  const { fileName, compressedSize, uncompressedSize, compressionMethod } = entry;
  if (uncompressedSize > maxBytes || compressedSize > maxBytes) {
    throw new Unacceptable(
      `${plain(fileName)} has ${Math.max(uncompressedSize, compressedSize)} bytes, but at most ${maxBytes} are read: shorten it.`,
    );
  }
  const { fileDataStart } = callSynchronously<{ fileDataStart: number }>((callback) => {
    archive.readLocalFileHeader(entry, { minimal: true }, callback);
  });
  const bytes = source.read(fileDataStart, compressedSize);
  const content =
    compressionMethod === 0 ? bytes : compressionMethod === 8 ? inflated(bytes, fileName, uncompressedSize) : undefined;
  if (content === undefined) {
    throw new Unacceptable(`${plain(fileName)} is packed by a method that is not known here: pack it with deflate.`);
  }
  if (content.length === uncompressedSize && crc32(content) === entry.crc32) return content;
  throw new Unacceptable(`${plain(fileName)} in the archive is not what the archive says of it: pack it again.`);
}

function inflated(bytes: Uint8Array, name: string, size: number): Uint8Array {
  try {
    return inflateRawSync(bytes, { maxOutputLength: Math.max(1, size) });
  } catch {
    throw new Unacceptable(
      `${plain(name)} in the archive cannot be unpacked, or has more than the ${size} bytes that it should: pack it again.`,
    );
  }
}
