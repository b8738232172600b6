// Handles paths as Go and snapd do: cleans them, and expands the variables for a snap's folders.
import { posix } from 'node:path';

/** The path without `.`, `..` and doubled slashes, as Go's filepath.Clean returns it. */
export function cleanPath(path: string): string {
  const clean = posix.normalize(path);
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
}

export const isAbsoluteAndClean = (path: string): boolean =>
  (path.startsWith('/') || path.startsWith('$')) && cleanPath(path) === path;

const variables = ['SNAP', 'SNAP_DATA', 'SNAP_COMMON'];

/** The first variable in a path that a layout may not use, with its `$`. */
export function unknownVariable(path: string): string | undefined {
  for (const [written, name = ''] of path.matchAll(/\$([a-zA-Z_]*)/g)) if (!variables.includes(name)) return written;
  return undefined;
}

/** Replaces the variables by the folders of the snap `snapName`; the revision does not matter here. */
export function expandVariables(path: string, snapName: string): string {
  const folders: Record<string, string> = {
    SNAP: `/snap/${snapName}/unset`,
    SNAP_DATA: `/var/snap/${snapName}/unset`,
    SNAP_COMMON: `/var/snap/${snapName}/common`,
  };
  return path.replace(
    /\$(?:\{(\w*)\}|(\w+))/g,
    (_, braced?: string, bare?: string) => folders[braced ?? bare ?? ''] ?? '',
  );
}

/** Whether `path` is `folder` or is below it. */
export const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
