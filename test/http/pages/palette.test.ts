// The colours of the pages: readers who see little contrast can read every text, in light and dark mode.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

const src = join(import.meta.dirname, '../../../src');
const palette = readFileSync(join(src, 'http/pages/base.css'), 'utf8');

/** By name: the colour by day, and that by night. */
const colours = new Map(
  [...palette.matchAll(/--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);/g)].map(
    ([, name = '', day = '', night = '']) => [name, [day, night] as const],
  ),
);

/** How bright a colour is, from 0 to 1, as WCAG 2.2 computes it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(first: string, other: string): number {
  const [dark = 0, bright = 0] = [luminance(first), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

const sheets = ['ground', 'paper'];
const grounds = [...sheets, 'code', 'accent-ground', 'second-ground', 'warn-ground', 'good-ground', 'note-ground'];

/** Foregrounds on their backgrounds, and the required contrast. */
const stands: readonly (readonly [string, readonly string[], number])[] = [
  ['ink', grounds, 4.5],
  ['soft', grounds, 4.5],
  ['accent', grounds, 4.5],
  ['accent-ink', ['accent'], 4.5],
  ['second', [...sheets, 'code', 'second-ground'], 4.5],
  ['warn', [...sheets, 'warn-ground'], 4.5],
  ['good', [...sheets, 'good-ground'], 4.5],
  ['note', [...sheets, 'note-ground'], 4.5],
  ['paper', ['warn', 'note', 'good', 'accent'], 4.5],
  ['edge', sheets, 3],
];

t.test('every text has enough contrast on each of its backgrounds', (t) => {
  t.equal(contrast('000000', 'ffffff'), 21);
  for (const [text, under, least] of stands) {
    for (const ground of under) {
      for (const [at, when] of ['day', 'night'].entries()) {
        const reached = contrast(colours.get(text)?.[at] ?? '', colours.get(ground)?.[at] ?? '');
        t.ok(reached >= least, `--${text} on --${ground} by ${when}: ${reached.toFixed(2)}`);
      }
    }
  }
  t.end();
});

t.test('every colour of a page is in the palette', (t) => {
  const defined = (text: string) => [...text.matchAll(/--([a-z-]+):/g)].map(([, name]) => name);
  const sheets = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.css'));
  t.ok(sheets.length > 3);
  for (const file of sheets) {
    const text = readFileSync(join(src, file), 'utf8');
    const variables = new Set([...defined(palette), ...defined(text)]);
    for (const [, name] of text.matchAll(/var\(--([a-z-]+)\)/g)) t.ok(variables.has(name), `${file}: ${String(name)}`);
  }
  t.end();
});
