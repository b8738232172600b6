// Reads large assets from the file of the executable. Node maps all assets, and each page of a mapping that a process has read stays in its
// memory: 8 MB of a served store (`npm run bench -- memory`).
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { getAsset, getRawAsset } from 'node:sea';

/** Where assets are in a file of `size` bytes: of each by its name the first byte and the one after the last. */
export interface AssetPlaces {
  size: number;
  assets: Readonly<Record<string, readonly [from: number, to: number]>>;
}

/** The asset with the places. packaging/build.ts packs blanks, and writes the places over them when the file is complete. */
export const placesAsset = 'places.json';

/** Reads bytes of an asset, counted from its first one. */
export type ReadAsset = (from?: number, to?: number) => Buffer;

/** Opens an asset of this executable and leaves the file open, so that an upgrade cannot replace it. */
export function openAsset(name: string): ReadAsset {
  const places = JSON.parse(getAsset(placesAsset, 'utf8')) as AssetPlaces;
  return (
    openAssetIn('/proc/self/exe', places, name) ?? ((from, to) => Buffer.from(getRawAsset(name)).subarray(from, to))
  );
}

/** Returns undefined if the file cannot be read or has another size: `/proc` may be hidden, or show an emulator. */
export function openAssetIn(file: string, { size, assets }: AssetPlaces, name: string): ReadAsset | undefined {
  const place = assets[name];
  const fd = place === undefined ? undefined : openOfSize(file, size);
  if (place === undefined || fd === undefined) return undefined;
  const [first, end] = place;
  return (from = 0, to = end - first) => {
    // The caller may release this memory: it is no slice of Node's pool.
    const bytes = Buffer.allocUnsafeSlow(to - from);
    for (let done = 0; done < bytes.length;) {
      const count = readSync(fd, bytes, done, bytes.length - done, first + from + done);
      if (count === 0) throw new Error(`cannot read the asset '${name}': ${file} has become shorter`);
      done += count;
    }
    return bytes;
  };
}

function openOfSize(file: string, size: number): number | undefined {
  try {
    const fd = openSync(file, 'r');
    if (fstatSync(fd).size === size) return fd;
    closeSync(fd);
  } catch {
    // The caller reads the mapping.
  }
  return undefined;
}
