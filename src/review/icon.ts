// What an icon is: a PNG, or an SVG that is safe to show.
import { svgProblem } from './svg.ts';
import type { SnapIcon } from './verdict.ts';

const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** How many bytes an icon may have: snapd fetches none that is larger (store/store_download.go). */
export const largestIcon = 300_000;

/** The icon that these bytes are; undefined when they are none, or too many. */
export function iconOf(bytes: Uint8Array): SnapIcon | undefined {
  if (bytes.length > largestIcon) return undefined;
  if (pngSignature.every((byte, at) => bytes[at] === byte)) return { mediaType: 'image/png', bytes };
  const text = drawingText(bytes);
  return text !== undefined && svgProblem(text) === undefined ? { mediaType: 'image/svg+xml', bytes } : undefined;
}

/** The same for an icon that another site has shown, by that site's rule; every store serves icons so that they can run nothing. */
export const carriedIconOf = (bytes: Uint8Array): SnapIcon | undefined =>
  iconOf(bytes) ??
  (bytes.length <= largestIcon && utf8(bytes)?.includes('<svg') === true
    ? { mediaType: 'image/svg+xml', bytes }
    : undefined);

/** The text of a drawing in the encoding that it names; undefined if it is in none of these. */
function drawingText(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 200)).toString('latin1');
  const isLatin = /^<\?xml [^>]{0,100}encoding=["'](?:iso-8859-1|latin1|windows-1252|us-ascii)["']/i.test(head);
  return isLatin ? Buffer.from(bytes).toString('latin1') : utf8(bytes);
}

/** The name of a package's icon: the digest of its content, and the file ending. */
export const iconName = (sha3_384: string, { mediaType }: Pick<SnapIcon, 'mediaType'>): string =>
  `${sha3_384}.${mediaType === 'image/png' ? 'png' : 'svg'}`;

/** The text that the bytes are in UTF-8, without a byte order mark; undefined when they are none. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
