// Reads the dynamic symbols of an executable. The native module is linked against them when it is loaded.
import { readFileSync } from 'node:fs';

/** Every dynamic symbol of a 64-bit little-endian ELF file as `name value size info`, sorted. */
export function dynamicSymbols(file: string): string[] {
  const bytes = readFileSync(file);
  if (bytes.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') throw new Error(`${file} is not a 64-bit ELF file`);
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

interface Section {
  type: number;
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
      offset: Number(bytes.readBigUInt64LE(at + 24)),
      size: Number(bytes.readBigUInt64LE(at + 32)),
      link: bytes.readUInt32LE(at + 40),
    };
  });
}
