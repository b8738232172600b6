// Applies snapd's rules for layouts: the paths that a snap may replace in the file system that it sees.
import { quoted } from '../unacceptable.ts';
import type { Faults } from './fields.ts';
import type { SnapLayout, SnapModel } from './model.ts';
import { cleanPath, expandVariables, isAbsoluteAndClean, isWithin, unknownVariable } from './paths.ts';

const file = 'meta/snap.yaml';
/** No layout may be in these folders. */
const forbidden = [
  ...['/dev', '/proc', '/sys', '/media', '/run', '/var/run', '/tmp', '/var/lib/snapd', '/var/snap', '/home', '/boot'],
  ...['/lost+found', '/lib/firmware', '/usr/lib/firmware', '/lib/modules', '/usr/lib/modules'],
];
/** The top-level folders that may contain a layout. */
const topFolders = [
  ...['bin', 'etc', 'lib', 'lib64', 'meta', 'mnt', 'opt', 'root', 'sbin', 'snap', 'srv', 'usr', 'var', 'writable'],
];
const maxLayouts = 2000;

/** Adds the faults that make a device refuse the layouts of a snap. */
export function checkLayouts({ name: snapName, layouts }: SnapModel, faults: Faults): void {
  if (layouts.size > maxLayouts) {
    faults.add(`${file} has more than ${String(maxLayouts)} layouts: use fewer.`);
    return;
  }
  const sources = new Map<string, 'a folder' | 'a file'>();
  const places: string[] = [];
  for (const path of [...layouts.keys()].sort()) {
    const layout = layouts.get(path)!;
    const place = expandVariables(path, snapName);
    const problem =
      pathProblem(path, snapName, places) ??
      contentProblem(layout, snapName) ??
      sourceProblem(layout, snapName, sources);
    if (problem !== undefined) faults.add(`The layout ${quoted(path)} in ${file} ${problem}.`);
    places.push(place);
  }
}

/** Characters with a special meaning in AppArmor rules. */
const isPattern = (path: string): boolean => /[?*[\]{}^"\0]/.test(path);

function pathProblem(path: string, snapName: string, places: readonly string[]): string | undefined {
  const variable = unknownVariable(path);
  if (path === '') return 'has no path';
  if (isPattern(path)) return 'has a path with a character that a device refuses';
  if (variable !== undefined) return `uses the unknown variable ${quoted(variable)}`;
  const place = expandVariables(path, snapName);
  if (!isAbsoluteAndClean(place)) return 'must have a path that is absolute and clean';
  const [, top = ''] = expandVariables(cleanPath(path), snapName).split('/');
  if (top !== '' && !topFolders.includes(top)) return `would make a new top-level folder ${quoted(`/${top}`)}`;
  if (path.startsWith('/snap/') && !path.startsWith(`/snap/${snapName}`)) return "is in another snap's space";
  if (forbidden.some((folder) => isWithin(place, folder))) return 'is where none is allowed';
  const above = places.find((other) => isWithin(place, other));
  return above === undefined ? undefined : `is below the layout at ${quoted(above)}`;
}

function contentProblem(layout: SnapLayout, snapName: string): string | undefined {
  const { bind, bindFile, type, symlink, user, group, mode } = layout;
  if ([bind, bindFile, type, symlink].filter((text) => text !== '').length !== 1)
    return "must have one of 'bind', 'bind-file', 'type' and 'symlink'";
  if (type !== '' && type !== 'tmpfs') return `has the unknown type ${quoted(type)}: use tmpfs`;
  for (const target of [bind || bindFile, symlink]) {
    const problem = target === '' ? undefined : targetProblem(target, snapName);
    if (problem !== undefined) return problem;
  }
  for (const name of [user, group]) if (name !== '' && name !== 'root') return 'must belong to root';
  return (mode & 0o1777) === mode ? undefined : `has the impossible mode ${mode.toString(8)}`;
}

function targetProblem(target: string, snapName: string): string | undefined {
  const variable = unknownVariable(target);
  if (variable !== undefined) return `uses the unknown variable ${quoted(variable)}`;
  const place = expandVariables(target, snapName);
  if (!isAbsoluteAndClean(place)) return `must lead to a path that is absolute and clean, not to ${quoted(target)}`;
  const folders = ['$SNAP', '$SNAP_DATA', '$SNAP_COMMON'].map((folder) => expandVariables(folder, snapName));
  if (!folders.some((folder) => place.startsWith(folder)))
    return `must lead into $SNAP, $SNAP_DATA or $SNAP_COMMON, not to ${quoted(target)}`;
  return isPattern(place) ? 'leads to a path with a character that a device refuses' : undefined;
}

/** The same source cannot be a file in one layout and a folder in another. */
function sourceProblem(
  { bind, bindFile }: SnapLayout,
  snapName: string,
  sources: Map<string, 'a folder' | 'a file'>,
): string | undefined {
  const source = bind || bindFile;
  if (source === '') return undefined;
  const place = expandVariables(source, snapName);
  const kind = bind === '' ? 'a file' : 'a folder';
  const before = sources.get(place) ?? kind;
  sources.set(place, kind);
  return before === kind ? undefined : `takes ${quoted(source)} for ${kind}, which is ${before} to another layout`;
}
