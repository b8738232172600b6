// Reads and writes the headers of tar archives (POSIX ustar): one block before each file, which is padded to whole
// blocks. Sizes too large for octal digits are in base 256.

/** The block size in bytes; everything in an archive begins at a multiple of it. */
export const block = 512;
const largestOctal = 0o77777777777;

/** The number of padding bytes after a file. */
export const padding = (size: number): number => (block - (size % block)) % block;

/** An invalid header; the message gives the reason as the end of a sentence. */
export class InvalidTarHeader extends Error {}

/** The properties of a file in its header. */
export interface TarHeader {
  name: string;
  size: number;
  /** One character; NUL and `0` are a plain file, `5` is a directory. */
  type: string;
}

/** Parses a header; undefined at the end of the archive. Throws `InvalidTarHeader`. */
export function readHeader(bytes: Uint8Array): TarHeader | undefined {
  if (bytes.every((byte) => byte === 0)) return undefined;
  if (sumOf(bytes) !== numberIn(bytes, 148, 8)) throw new InvalidTarHeader('the checksum of a header does not match');
  return { name: nameIn(bytes), size: numberIn(bytes, 124, 12), type: String.fromCharCode(bytes[156] ?? 0) };
}

const textIn = (header: Uint8Array, at: number, length: number): string => {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end)).toString();
};

function nameIn(header: Uint8Array): string {
  const prefix = textIn(header, 257, 5) === 'ustar' ? textIn(header, 345, 155) : '';
  return prefix === '' ? textIn(header, 0, 100) : `${prefix}/${textIn(header, 0, 100)}`;
}

/** Parses octal digits, or a larger number in base 256, marked by the first bit. */
function numberIn(header: Uint8Array, at: number, length: number): number {
  const first = header[at] ?? 0;
  if ((first & 0x80) !== 0) {
    let value = first & 0x7f;
    for (let index = at + 1; index < at + length; index++) {
      value = value * 256 + (header[index] ?? 0);
      if (value > Number.MAX_SAFE_INTEGER) throw new InvalidTarHeader('it has a size that is too large');
    }
    return value;
  }
  const text = textIn(header, at, length).trim();
  if (!/^[0-7]*$/.test(text)) throw new InvalidTarHeader('it has a size that is no number');
  return text === '' ? 0 : Number.parseInt(text, 8);
}

/** The header of a plain file. Names longer than 100 bytes must contain a slash where they can be split. */
export function tarHeader(name: string, size: number, modified: Date): Buffer {
  // A copy comes from the pool of buffers, which takes a tenth of the time of a buffer with memory of its own.
  const head = Buffer.from(empty);
  const [prefix, last] = split(name);
  head.write(last, 0, 100);
  const seconds = Math.floor(modified.getTime() / 1000);
  const sizeField = size <= largestOctal ? octal(size, 12) : `\u0080${'\u0000'.repeat(11)}`;
  head.write(`${owned}${sizeField}${octal(seconds, 12)}`, 100, 'latin1');
  if (size > largestOctal) head.writeBigUInt64BE(BigInt(size), 128);
  head.write('0', 156, 'latin1');
  head.write('ustar\u000000', 257, 'latin1');
  head.write(prefix, 345, 155);
  head.write(`${octal(sumOf(head), 7)} `, 148, 'latin1');
  return head;
}

function split(name: string): [string, string] {
  if (name.length <= 100) return ['', name];
  const slash = name.lastIndexOf('/');
  return [name.slice(0, slash), name.slice(slash + 1)];
}

const empty = Buffer.alloc(block);

/** Octal digits in a field of `length` bytes, which NUL ends. */
const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\u0000`;

/** A plain file that its owner may read and write; the owner is 0. */
const owned = `${octal(0o600, 8)}${octal(0, 8)}${octal(0, 8)}`;

/** The sum of a header's bytes, with the bytes of the sum field counted as spaces. */
function sumOf(header: Uint8Array): number {
  let sum = 8 * 32;
  for (let index = 0; index < block; index++) sum += header[index]!;
  for (let index = 148; index < 156; index++) sum -= header[index]!;
  return sum;
}
