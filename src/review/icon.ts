// Recognizes icons: PNG, JPEG, or an SVG that is safe to show.
import { svgProblem } from './svg.ts';
import type { SnapIcon } from './verdict.ts';

/** The first bytes of each format. */
const signatures = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
] as const;

/** The maximum size of an icon: snapd fetches no larger one (store/store_download.go). */
export const maxIconBytes = 300_000;

/** The sides of a picture in pixels. A larger picture fills the memory of the pages that list packages; a smaller one shows nothing. */
export const minIconSide = 16;
export const maxIconSide = 2048;

/** Reads an icon, or returns why the bytes are not one. */
export function readIcon(bytes: Uint8Array): SnapIcon | string {
  if (bytes.length > maxIconBytes) return `it has ${String(bytes.length)} bytes`;
  const format = signatures.find(([, signature]) => signature.every((byte, at) => bytes[at] === byte));
  if (format !== undefined) {
    const sides = sidesOf(format[0], Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
    const isUsable = sides.every((side) => side >= minIconSide && side <= maxIconSide);
    return isUsable ? { mediaType: format[0], bytes } : `it is ${sides.join(' × ')} pixels large`;
  }
  const text = drawingText(bytes);
  if (text === undefined || !/<[^<>]{0,100}svg/i.test(text)) return 'it is neither a PNG nor a JPEG nor an SVG';
  const problem = svgProblem(text);
  return problem === undefined ? { mediaType: 'image/svg+xml', bytes } : `as an SVG, ${problem}`;
}

/** The width and height in the header of a picture; empty if it has none. */
function sidesOf(mediaType: 'image/png' | 'image/jpeg', bytes: Buffer): number[] {
  if (mediaType === 'image/png') return bytes.length < 24 ? [] : [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  // Each segment of a JPEG has a marker and its length; the frame (SOF) has the sides (ITU T.81, B.2.2).
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
  }
  return [];
}

/** The text of an SVG in the encoding that it declares; undefined if it is not valid in it. */
function drawingText(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  const isLatin = /^<\?xml [^>]{0,100}encoding=["'](?:iso-8859-1|latin1|windows-1252|us-ascii)["']/i.test(head);
  return isLatin ? Buffer.from(bytes).toString('latin1') : utf8(bytes);
}

const endings: Record<SnapIcon['mediaType'], 'png' | 'jpg' | 'svg'> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
};

/** The name of a package's icon: the digest of its content, and the file extension. */
export const iconName = (sha3_384: string, { mediaType }: Pick<SnapIcon, 'mediaType'>): string =>
  `${sha3_384}.${endings[mediaType]}`;

/** The media type of the icon with this name. */
export function iconMediaType(name: string): SnapIcon['mediaType'] {
  if (name.endsWith('.svg')) return 'image/svg+xml';
  return name.endsWith('.jpg') ? 'image/jpeg' : 'image/png';
}

/** Decodes UTF-8 without the byte order mark; undefined if the bytes are invalid. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
