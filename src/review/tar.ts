// Reads the list of a tar archive: names, sizes and where each file's bytes are. Only plain files and directories are
// accepted, which is all that an archive of an image has.
import type { Source } from './squashfs/source.ts';
import { Unacceptable, plain, quoted } from './unacceptable.ts';

export interface TarFile {
  start: number;
  size: number;
}

/** Everything in an archive begins at a multiple of so many bytes. */
export const block = 512;
const mostEntries = 5_000;
const longestExtension = 64 << 10;

/** The files of an archive by their names, without a leading `./`. Throws `Unacceptable`. */
export function listTar(source: Source): Map<string, TarFile> {
  const files = new Map<string, TarFile>();
  const seen = new Set<string>();
  let extended: { path?: string; size?: number } = {};
  let entries = 0;
  for (let at = 0; at < source.size;) {
    if (source.size - at < block) throw damaged('it is cut off');
    const header = readHeader(source.read(at, block));
    if (header === undefined) break;
    if (++entries > mostEntries)
      throw new Unacceptable(`The archive has more than ${mostEntries} entries: an image has fewer.`);
    const { type } = header;
    const size = extended.size ?? header.size;
    const start = at + block;
    if (size > source.size - start) throw damaged('it is cut off');
    at = start + Math.ceil(size / block) * block;
    if (type === 'x' || type === 'g') {
      if (size > longestExtension) throw damaged('it has a header that is too long');
      const members = readExtension(Buffer.from(source.read(start, size)));
      if (type === 'x') extended = members;
      continue;
    }
    const name = cleaned(extended.path ?? header.name);
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

export interface TarHeader {
  name: string;
  size: number;
  /** One character; NUL and `0` are a plain file, `5` is a directory. */
  type: string;
}

/** One header of an archive; nothing at its end. Throws `Unacceptable`. */
export function readHeader(bytes: Uint8Array): TarHeader | undefined {
  if (bytes.every((byte) => byte === 0)) return undefined;
  refuseBadSum(bytes);
  return { name: nameIn(bytes), size: numberIn(bytes, 124, 12), type: String.fromCharCode(bytes[156] ?? 0) };
}

const damaged = (why: string): Unacceptable =>
  new Unacceptable(`The file is no tar archive that can be read: ${plain(why)}. Make it again.`);

const textIn = (header: Uint8Array, at: number, length: number): string => {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end)).toString();
};

function nameIn(header: Uint8Array): string {
  const prefix = textIn(header, 257, 5) === 'ustar' ? textIn(header, 345, 155) : '';
  return prefix === '' ? textIn(header, 0, 100) : `${prefix}/${textIn(header, 0, 100)}`;
}

/** Octal digits, or, for what they cannot hold, a big number marked by its first bit. */
function numberIn(header: Uint8Array, at: number, length: number): number {
  const first = header[at] ?? 0;
  if ((first & 0x80) !== 0) {
    let value = first & 0x7f;
    for (let index = at + 1; index < at + length; index++) {
      value = value * 256 + (header[index] ?? 0);
      if (value > Number.MAX_SAFE_INTEGER) throw damaged('it has a size that is too large');
    }
    return value;
  }
  const text = textIn(header, at, length).trim();
  if (!/^[0-7]*$/.test(text)) throw damaged('it has a size that is no number');
  return text === '' ? 0 : Number.parseInt(text, 8);
}

function refuseBadSum(header: Uint8Array): void {
  let sum = 0;
  for (let index = 0; index < block; index++) sum += index >= 148 && index < 156 ? 32 : (header[index] ?? 0);
  if (sum !== numberIn(header, 148, 8)) throw damaged('a header is not what its sum says');
}

/** The members of an extended header: lines of `LENGTH NAME=VALUE`. Throws `Unacceptable`. */
export function readExtension(bytes: Buffer): { path?: string; size?: number } {
  const found: { path?: string; size?: number } = {};
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
    if (name === 'path') found.path = value;
    if (name === 'size') {
      if (!/^\d{1,15}$/.test(value)) throw damaged('it has a size that is no number');
      found.size = Number(value);
    }
    if (name?.startsWith('GNU.sparse') === true) throw damaged('it has sparse files');
    at += length;
  }
  return found;
}

function cleaned(name: string): string {
  const inner = name.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
  const parts = inner.split('/');
  if (name.startsWith('/') || parts.includes('..')) {
    throw new Unacceptable(`The name ${quoted(name)} leads out of the archive: make it again.`);
  }
  if (name.length > 1024 || name.includes('\0'))
    throw new Unacceptable(`The name ${quoted(name)} in the archive is not possible.`);
  return inner;
}
