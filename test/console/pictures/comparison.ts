// Compares a picture of a page with the kept one.
import type { Picture } from './png.ts';

/** Of the pixels of each band over the width of the page: on a long page a changed word is less than that of all pixels. */
export const maxDifferentShare = 0.001;
const bandHeight = 32;

/** How many colours keep all their bits. They fill areas, where readers see a small change. */
const maxExactColours = 16;
const red = 0xd0_00_00;

/** A channel of 16 levels; between them are only the edges of letters. */
const roundChannel = (value: number): number => Math.round(value / 17) * 17;

export const roundColour = (colour: number): number =>
  (roundChannel(colour >> 16) << 16) | (roundChannel((colour >> 8) & 255) << 8) | roundChannel(colour & 255);

/** The browser blends the last row of a page of odd height with its background, and rounds that in two ways. */
const maxRounding = 1;

const isNear = (before: number, present: number): boolean =>
  [16, 8, 0].every((shift) => Math.abs(((before >> shift) & 255) - ((present >> shift) & 255)) <= maxRounding);

/** The picture to keep: exact where it matters, and with at most 256 colours. */
export function reduceColours(picture: Picture): Picture {
  const counts = new Map<number, number>();
  for (const colour of picture.colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const frequent = [...counts].sort(([, first], [, second]) => second - first).slice(0, maxExactColours);
  const exact = new Set(frequent.map(([colour]) => colour));
  return { ...picture, colours: picture.colours.map((colour) => (exact.has(colour) ? colour : roundColour(colour))) };
}

export interface Comparison {
  /** What differs, or undefined if the pictures are the same within the bound. */
  difference: string | undefined;
  /** The kept picture in grey with the different pixels in red. */
  drawing: Picture;
}

export function comparePictures(before: Picture, present: Picture): Comparison {
  const { width, height } = before;
  const drawing = { ...before, colours: before.colours.map(fade) };
  const comparable = Math.min(height, present.height);
  const counts = new Array<number>(Math.ceil(comparable / bandHeight)).fill(0);
  for (let y = 0; y < comparable && width === present.width; y++)
    for (let x = y * width; x < (y + 1) * width; x++) {
      const [was, is] = [before.colours[x]!, present.colours[x]!];
      if (was === is) continue;
      if (isNear(was, is) || was === roundColour(is)) continue;
      counts[Math.floor(y / bandHeight)]! += 1;
      drawing.colours[x] = red;
    }
  const sizes = [before, present].map((picture) => `${picture.width} × ${picture.height}`);
  if (sizes[0] !== sizes[1]) return { difference: `its size was ${sizes.join(' px and is ')} px`, drawing };
  const worst = counts.map((count) => count / (width * bandHeight));
  const highest = Math.max(...worst);
  if (highest <= maxDifferentShare) return { difference: undefined, drawing };
  const at = worst.indexOf(highest) * bandHeight;
  const sum = counts.reduce((all, count) => all + count, 0);
  return {
    difference: `${(highest * 100).toFixed(2)} % of the pixels from ${at} to ${at + bandHeight} px differ, ${sum} in all`,
    drawing,
  };
}

/** A light grey of 16 levels. */
function fade(colour: number): number {
  const level = ((colour >> 16) + ((colour >> 8) & 255) + (colour & 255)) / 3;
  return 0x01_01_01 * roundChannel(187 + level * 0.266);
}
