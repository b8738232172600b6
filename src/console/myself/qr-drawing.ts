// A QR code as a drawing: dark modules on white, in the light and in the dark, because cameras want it so.
import { encode } from 'uqr';

import { html, type Html } from '#api/pages/html.ts';

/** So many modules of white around it, without which it is not found. */
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
