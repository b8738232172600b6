// Reads the dynamic symbols of an executable, with which the native module is linked when it is loaded; and leaves out
// what only debuggers read.
import { readFileSync } from 'node:fs';

/** Every dynamic symbol of a 64-bit little-endian ELF file as `name value size info`, sorted. */
export function dynamicSymbols(file: string): string[] {
  const bytes = readElf(file);
  const sections = sectionHeaders(bytes);
  const SHT_DYNSYM = 11;
  const table = sections.find(({ type }) => type === SHT_DYNSYM);
  const names = sections[table?.link ?? -1];
  if (!table || !names) throw new Error(`${file} has no dynamic symbols`);
  const symbols: string[] = [];
  for (let at = table.offset; at < table.offset + table.size; at += 24) {
    const start = names.offset + bytes.readUInt32LE(at);
    const name = bytes.toString('latin1', start, bytes.indexOf(0, start));
    const [info, value, size] = [bytes[at + 4], bytes.readBigUInt64LE(at + 8), bytes.readBigUInt64LE(at + 16)];
    symbols.push([name, value, size, info].join(' '));
  }
  return symbols.sort();
}

/**
 * An executable without its debugging data and its table of local symbols, a seventh of a Node: everything behind the
 * last section that is loaded into memory. Throws if a loaded section lies behind one that is not, because their
 * numbers and places stay.
 */
export function withoutDebuggingData(file: string): Buffer {
  const bytes = readElf(file);
  const [SHF_ALLOC, SHT_NOBITS, headerSize] = [2n, 8, 64];
  const sections = sectionHeaders(bytes);
  const loaded = sections.findLastIndex(({ flags }) => (flags & SHF_ALLOC) !== 0n) + 1;
  const end = Math.max(
    ...sections.slice(0, loaded).map(({ type, offset, size }) => (type === SHT_NOBITS ? offset : offset + size)),
  );
  const [namesAt, startsAt] = [bytes.readUInt16LE(0x3e), Number(bytes.readBigUInt64LE(0x28))];
  const names = sections[namesAt];
  const mixed = sections.slice(1, loaded).some(({ flags }) => (flags & SHF_ALLOC) === 0n);
  if (!names || mixed || sections.slice(loaded).some(({ offset }) => offset < end)) {
    throw new Error(`cannot shorten ${file}: its sections are in an unknown order`);
  }
  const nameTable = bytes.subarray(names.offset, names.offset + names.size);
  const headers = Buffer.concat([
    bytes.subarray(startsAt, startsAt + loaded * headerSize),
    bytes.subarray(startsAt + namesAt * headerSize, startsAt + (namesAt + 1) * headerSize),
  ]);
  headers.writeBigUInt64LE(BigInt(end), loaded * headerSize + 24);
  const padding = Buffer.alloc(-(end + nameTable.length) & 7);
  const result = Buffer.concat([bytes.subarray(0, end), nameTable, padding, headers]);
  result.writeBigUInt64LE(BigInt(end + nameTable.length + padding.length), 0x28);
  result.writeUInt16LE(loaded + 1, 0x3c);
  result.writeUInt16LE(loaded, 0x3e);
  return result;
}

function readElf(file: string): Buffer {
  const bytes = readFileSync(file);
  if (bytes.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') throw new Error(`${file} is not a 64-bit ELF file`);
  return bytes;
}

interface Section {
  type: number;
  flags: bigint;
  offset: number;
  size: number;
  link: number;
}

function sectionHeaders(bytes: Buffer): Section[] {
  const start = Number(bytes.readBigUInt64LE(0x28));
  const [each, count] = [bytes.readUInt16LE(0x3a), bytes.readUInt16LE(0x3c)];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * each;
    return {
      type: bytes.readUInt32LE(at + 4),
      flags: bytes.readBigUInt64LE(at + 8),
      offset: Number(bytes.readBigUInt64LE(at + 24)),
      size: Number(bytes.readBigUInt64LE(at + 32)),
      link: bytes.readUInt32LE(at + 40),
    };
  });
}
