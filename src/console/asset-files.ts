// The files that pages load. Each address contains the digest of the file, so a browser can cache it for ever and never uses an old one.
import { hash } from 'node:crypto';

import { styleSheet } from '#http/pages/style-sheet.ts';
import { embeddedText } from '#platform/embedded.ts';

const files = {
  'style.css': ['src/console/style.css', 'text/css'],
  'console.js': ['src/console/console.js', 'text/javascript'],
  'htmx.js': ['node_modules/htmx.org/dist/htmx.min.js', 'text/javascript'],
} as const satisfies Readonly<Record<string, readonly [path: string, type: string]>>;

export type AssetName = keyof typeof files;

export interface AssetFile {
  type: string;
  body: string;
  /** The beginning of the SHA-256 of the file. */
  digest: string;
}

const read = new Map<AssetName, AssetFile>();

export const isAssetName = (name: string): name is AssetName => Object.hasOwn(files, name);

/** Returns a file; reads it once. */
export function assetFile(name: AssetName): AssetFile {
  let file = read.get(name);
  if (file === undefined) {
    const [path, type] = files[name];
    const body = type === 'text/css' ? styleSheet(path) : embeddedText(path);
    file = { type, body, digest: hash('sha256', body, 'hex').slice(0, 16) };
    read.set(name, file);
  }
  return file;
}

export const addressOfAsset = (name: AssetName): string => `/console/assets/${name}?digest=${assetFile(name).digest}`;
