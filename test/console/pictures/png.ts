// PNG as far as the pictures of pages need it (RFC 2083): reads the colours of a browser's pictures and the palettes of kept ones, and
// writes palettes, which take two thirds of the space.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** The colours of a picture, row by row, as 0xRRGGBB. */
export interface Picture {
  width: number;
  height: number;
  colours: Uint32Array;
}

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const maxPalette = 256;
/** The colour types of the format, with the number of bytes of a pixel. */
const bytesOfPixel: Record<number, number> = { 2: 3, 3: 1, 6: 4 };

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function chunksOf(file: Buffer): Map<string, Buffer> {
  if (!file.subarray(0, 8).equals(signature)) throw new Error('The file is no PNG.');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < file.length;) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const content = file.subarray(at + 8, at + 8 + length);
    chunks.set(type, Buffer.concat([chunks.get(type) ?? Buffer.alloc(0), content]));
    at += length + 12;
  }
  return chunks;
}

function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  return filter === 3 ? (left + up) >> 1 : predictNearest(left, up, corner);
}

/** The prediction of filter 4, named for Paeth in the format. */
function predictNearest(left: number, up: number, corner: number): number {
  const sum = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(sum - left), Math.abs(sum - up), Math.abs(sum - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** Undoes the filters of the rows; a row begins with the number of its filter. */
function unfilter(rows: Buffer, height: number, rowBytes: number, pixelBytes: number): Buffer {
  const plain = Buffer.alloc(height * rowBytes);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (rowBytes + 1)]!;
    for (let x = 0; x < rowBytes; x++) {
      const at = y * rowBytes + x;
      const left = x < pixelBytes ? 0 : plain[at - pixelBytes]!;
      const up = y === 0 ? 0 : plain[at - rowBytes]!;
      const corner = x < pixelBytes || y === 0 ? 0 : plain[at - rowBytes - pixelBytes]!;
      plain[at] = rows[at + y + 1]! + predict(filter, left, up, corner);
    }
  }
  return plain;
}

export function readPng(file: Buffer): Picture {
  const chunks = chunksOf(file);
  const header = chunks.get('IHDR')!;
  const [width, height, type] = [header.readUInt32BE(0), header.readUInt32BE(4), header[9]!];
  const pixelBytes = bytesOfPixel[type];
  if (header[8] !== 8 || pixelBytes === undefined || header[12] !== 0)
    throw new Error(`This kind of PNG is not read here: ${header.toString('hex')}.`);
  const plain = unfilter(inflateSync(chunks.get('IDAT')!), height, width * pixelBytes, pixelBytes);
  const palette = chunks.get('PLTE');
  const colours = new Uint32Array(width * height);
  for (let at = 0; at < colours.length; at++)
    colours[at] = palette === undefined ? plain.readUIntBE(at * pixelBytes, 3) : palette.readUIntBE(plain[at]! * 3, 3);
  return { width, height, colours };
}

/** Writes a picture of at most 256 colours. */
export function writePng({ width, height, colours }: Picture): Buffer {
  const numbers = new Map<number, number>();
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const colour = colours[y * width + x]!;
      const number = numbers.get(colour) ?? numbers.size;
      numbers.set(colour, number);
      rows[y * (width + 1) + x + 1] = number;
    }
  if (numbers.size > maxPalette) throw new Error(`The picture has ${numbers.size} colours, more than ${maxPalette}.`);
  const [header, palette] = [Buffer.alloc(13), Buffer.alloc(numbers.size * 3)];
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8);
  for (const [colour, number] of numbers) palette.writeUIntBE(colour, number * 3, 3);
  const content = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', content),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
