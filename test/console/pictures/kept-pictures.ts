// The kept pictures of the pages, and what they were taken with.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

import { comparePictures, reduceColours } from './comparison.ts';
import { readPng, writePng, type Picture } from './png.ts';
import type { PictureView, StillPage } from './still-console.ts';

const folder = join(import.meta.dirname, 'kept');
const drawerFile = join(folder, 'drawer.json');

/** The browser and the letters of a machine; with others the edges of all letters differ. */
export interface Drawer {
  chromium: string;
  /** The digest of a picture of letters in the fonts of the system. */
  letters: string;
}

const letters = `<body style="font: 16px monospace">larder 0123456789 <b>release</b> ✓▸▾→…
  <p style="font-family: ui-monospace, 'Cascadia Mono', 'Ubuntu Mono', 'DejaVu Sans Mono', monospace">snap/tiny-app ✓▸▾
  <p style="font-family: system-ui, 'Segoe UI', Ubuntu, Cantarell, 'Noto Sans', sans-serif">Transfers ✓▸▾→…
  <p><input value="From the day"> <select><option>Any act</select> <input type="date"> <input type="checkbox" checked>`;

export async function drawerOf(browser: Browser): Promise<Drawer> {
  const page = await browser.newPage({ deviceScaleFactor: 0.5, viewport: { width: 640, height: 240 } });
  await page.setContent(letters);
  const digest = createHash('sha256')
    .update(await page.screenshot())
    .digest('hex');
  await page.close();
  return { chromium: browser.version(), letters: digest };
}

/** Why pictures of this browser cannot be compared with the kept ones, or undefined if they can. */
export function incomparable({ chromium, letters: digest }: Drawer): string | undefined {
  const former = existsSync(drawerFile) ? (JSON.parse(readFileSync(drawerFile, 'utf8')) as Drawer) : undefined;
  const renew = 'Renew them with: npm run screenshots -- --keep';
  if (former === undefined) return `There are no kept pictures. ${renew}`;
  if (former.chromium !== chromium)
    return `The kept pictures are of Chromium ${former.chromium}, this one is ${chromium}. ${renew}`;
  return former.letters === digest
    ? undefined
    : `The fonts of this machine differ from those of the kept pictures. ${renew}`;
}

export const pictureName = ({ name }: StillPage, { name: view }: PictureView): string =>
  `${name}.${view.replace(', ', '-')}.png`;

/**
 * Compares the picture of a page with the kept one; returns what differs, in words, or undefined. Writes a different
 * picture into a folder, with a drawing of the difference.
 */
export function findDifference(file: Buffer, name: string, results: string): string | undefined {
  const place = join(folder, name);
  const present = readPng(file);
  const save = (suffix: string, picture: Picture): void =>
    writeFileSync(join(results, name.replace('.png', suffix)), writePng(picture));
  if (!existsSync(place)) {
    save('.png', reduceColours(present));
    return 'it has no kept picture';
  }
  const { difference, drawing } = comparePictures(readPng(readFileSync(place)), present);
  if (difference === undefined) return undefined;
  save('.png', reduceColours(present));
  save('.difference.png', drawing);
  return difference;
}

/** Keeps a picture in place of an older one; returns whether it was a different one. */
export function keepPicture(file: Buffer, name: string): boolean {
  mkdirSync(folder, { recursive: true });
  const [place, bytes] = [join(folder, name), writePng(reduceColours(readPng(file)))];
  if (existsSync(place) && readFileSync(place).equals(bytes)) return false;
  writeFileSync(place, bytes);
  return true;
}

export const keepDrawer = (drawer: Drawer): void =>
  writeFileSync(drawerFile, `${JSON.stringify(drawer, undefined, 2)}\n`);

/** The names of the kept pictures. */
export const keptNames = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.png'));

export const forgetPicture = (name: string): void => rmSync(join(folder, name));

export const keptBytes = (): number => keptNames().reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
