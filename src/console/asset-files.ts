// The files that pages load. Each address contains the digest of the file, so a browser can cache it for ever and never uses an old one.
import { computeDigest } from '#domain/cryptography.ts';
import { styleSheet } from '#http/pages/style-sheet.ts';
import { embeddedBytes, embeddedText } from '#platform/embedded.ts';
import { iconFiles, renderIcons } from './icons.ts';

const htmxFile = 'node_modules/htmx.org/dist/htmx.min.js';
const fontFile = (name: string): string =>
  `node_modules/@fontsource/atkinson-hyperlegible-next/files/atkinson-hyperlegible-next-${name}-normal.woff2`;

/** Latin letters, and the further letters of European languages, in two weights: 40 kB. Other scripts use the font of the system. */
const fontNames = ['latin-400', 'latin-600', 'latin-ext-400', 'latin-ext-600'] as const;

const font = (name: (typeof fontNames)[number]) =>
  ({ type: 'font/woff2', read: () => embeddedBytes(fontFile(name)) }) as const;

const files = {
  'style.css': { type: 'text/css', read: () => withAddresses(styleSheet('src/console/style.css')) },
  'console.js': { type: 'text/javascript', read: () => embeddedText('src/console/console.js') },
  'htmx.js': { type: 'text/javascript', read: () => embeddedText(htmxFile) },
  'icons.svg': { type: 'image/svg+xml', read: renderIcons },
  'latin-400.woff2': font('latin-400'),
  'latin-600.woff2': font('latin-600'),
  'latin-ext-400.woff2': font('latin-ext-400'),
  'latin-ext-600.woff2': font('latin-ext-600'),
} as const satisfies Readonly<Record<string, { type: string; read: () => string | Uint8Array }>>;

export type AssetName = keyof typeof files;

export interface AssetFile {
  type: string;
  body: string | Uint8Array;
  /** The beginning of the SHA-256 of the file. */
  digest: string;
}

/** The files of packages among them; the executable embeds them. */
export const packagedAssets: readonly string[] = [htmxFile, ...fontNames.map(fontFile), ...iconFiles];

const read = new Map<AssetName, AssetFile>();

export const isAssetName = (name: string): name is AssetName => Object.hasOwn(files, name);

/** Returns a file; reads it once. */
export function assetFile(name: AssetName): AssetFile {
  let file = read.get(name);
  if (file === undefined) {
    const body = files[name].read();
    file = { type: files[name].type, body, digest: computeDigest('cache', body).slice(0, 16) };
    read.set(name, file);
  }
  return file;
}

export const addressOfAsset = (name: AssetName): string => `/console/assets/${name}?digest=${assetFile(name).digest}`;

/** A style sheet with the addresses of the files that it names. */
const withAddresses = (styles: string): string =>
  styles.replace(/url\(([\w.-]+)\)/g, (whole, name: string) =>
    isAssetName(name) ? `url(${addressOfAsset(name)})` : whole,
  );
