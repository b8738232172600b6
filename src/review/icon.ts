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

/** Reads an icon, or returns why the bytes are not one. */
export function readIcon(bytes: Uint8Array): SnapIcon | string {
  if (bytes.length > maxIconBytes) return `it has ${String(bytes.length)} bytes`;
  const format = signatures.find(([, signature]) => signature.every((byte, at) => bytes[at] === byte));
  if (format !== undefined) return { mediaType: format[0], bytes };
  const text = drawingText(bytes);
  if (text === undefined || !/<[^<>]{0,100}svg/i.test(text)) return 'it is neither a PNG nor a JPEG nor an SVG';
  const problem = svgProblem(text);
  return problem === undefined ? { mediaType: 'image/svg+xml', bytes } : `as an SVG, ${problem}`;
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
