// Reads the list of a tar archive: names, sizes and positions of files. Only plain files and directories are accepted;
// an archive of an image has nothing else.
import { InvalidTarHeader, block, padding, readHeader, type TarHeader } from '#files/tar-header.ts';
import type { UploadBytes } from '../squashfs/source.ts';
import { Unacceptable, plain, quoted } from '../unacceptable.ts';

export interface TarFile {
  start: number;
  size: number;
}

const maxEntries = 5_000;
const maxExtensionBytes = 64 << 10;

/** The files of an archive by name, without a leading `./`. Throws `Unacceptable`. */
export function listTar(source: UploadBytes): Map<string, TarFile> {
  const files = new Map<string, TarFile>();
  const seen = new Set<string>();
  let extended: { path?: string; size?: number } = {};
  let entries = 0;
  for (let at = 0; at < source.size;) {
    if (source.size - at < block) throw damaged('it is cut off');
    const header = nextHeader(source.read(at, block));
    if (header === undefined) break;
    if (++entries > maxEntries)
      throw new Unacceptable(`The archive has more than ${maxEntries} entries: an image has fewer.`);
    const { type } = header;
    const size = extended.size ?? header.size;
    const start = at + block;
    if (size > source.size - start) throw damaged('it is cut off');
    at = start + size + padding(size);
    if (type === 'x' || type === 'g') {
      if (size > maxExtensionBytes) throw damaged('it has a header that is too long');
      const members = readExtension(Buffer.from(source.read(start, size)));
      if (type === 'x') extended = members;
      continue;
    }
    const name = toEntryPath(extended.path ?? header.name);
    extended = {};
    if (type === '5') continue;
    if (type !== '0' && type !== '\0') {
      throw new Unacceptable(
        `${quoted(name)} in the archive is a link, a device or the like: an image has only files and directories.`,
      );
    }
    if (seen.has(name)) throw new Unacceptable(`The archive holds ${quoted(name)} twice: make it again.`);
    seen.add(name);
    files.set(name, { start, size });
  }
  if (entries === 0) throw damaged('it is empty');
  return files;
}

/** Reads one header of an archive; undefined at its end. Throws `Unacceptable`. */
export function nextHeader(bytes: Uint8Array): TarHeader | undefined {
  try {
    return readHeader(bytes);
  } catch (error) {
    if (!(error instanceof InvalidTarHeader)) throw error;
    throw damaged(error.message);
  }
}

const damaged = (problem: string): Unacceptable =>
  new Unacceptable(`The file is no tar archive that can be read: ${plain(problem)}. Make it again.`);

/** The members of an extended header: lines of `LENGTH NAME=VALUE`. Throws `Unacceptable`. */
export function readExtension(bytes: Buffer): { path?: string; size?: number } {
  const members: { path?: string; size?: number } = {};
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(32, at);
    const length = Number(bytes.toString('latin1', at, space));
    if (
      space < 0 ||
      space - at > 6 ||
      !Number.isInteger(length) ||
      length <= space - at ||
      at + length > bytes.length
    ) {
      throw damaged('it has an extended header that cannot be read');
    }
    const [, name, value = ''] = /^([^=]*)=([^]*)\n$/.exec(bytes.toString('utf8', space + 1, at + length)) ?? [];
    if (name === 'path') members.path = value;
    if (name === 'size') {
      if (!/^\d{1,15}$/.test(value)) throw damaged('it has a size that is no number');
      members.size = Number(value);
    }
    if (name?.startsWith('GNU.sparse') === true) throw damaged('it has sparse files');
    at += length;
  }
  return members;
}

function toEntryPath(name: string): string {
  const inner = name.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
  const parts = inner.split('/');
  if (name.startsWith('/') || parts.includes('..')) {
    throw new Unacceptable(`The name ${quoted(name)} leads out of the archive: make it again.`);
  }
  if (name.length > 1024 || name.includes('\0'))
    throw new Unacceptable(`The name ${quoted(name)} in the archive is not possible.`);
  return inner;
}
