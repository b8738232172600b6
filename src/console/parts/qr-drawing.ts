// Draws a QR code: dark modules on white in the light and in the dark theme, because cameras need that.
import { encode } from 'uqr';

import { html, type Html } from '#http/pages/html.ts';

/** The width of the white margin in modules; scanners do not find a code without it. */
const margin = 4;

export function qrDrawing(text: string, words: string): Html {
  const { size, data } = encode(text, { ecc: 'M', border: margin });
  const dark = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${String(x)} ${String(y)}h1v1h-1z`] : [])),
  );
  return html`<svg
    class="qr"
    viewBox="0 0 ${size} ${size}"
    width="240"
    height="240"
    shape-rendering="crispEdges"
    role="img"
    aria-label="${words}"
  >
    <rect width="${size}" height="${size}" fill="#ffffff" />
    <path d="${dark.join('')}" fill="#000000" />
  </svg>`;
}
