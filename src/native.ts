// SQLite's native module. In a checkout better-sqlite3 finds its own; the executable carries it inside and must give it
// to the dynamic loader as a file, without leaving room for anybody to put another one in its place.
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { workerData } from 'node:worker_threads';

/** Where the executable keeps the module; packaging/build.ts puts it there. */
export const nativeAsset = 'native/better_sqlite3.node';

/** Where the system package installs a copy, for hosts on which nothing that can be written can be run. */
const installedCopy = '/usr/lib/larder/better_sqlite3.node';

export interface LoadedModule {
  binding: object;
  /** What it was loaded as. */
  path: string;
}

let loaded: LoadedModule | undefined;

/** What `new Database(file, { nativeBinding })` needs inside the executable; nothing in a checkout. */
export function nativeBinding(): object | undefined {
  if (!isSea()) return undefined;
  const { native } = (workerData ?? {}) as { native?: string };
  loaded ??=
    native === undefined
      ? loadNative(Buffer.from(getAsset(nativeAsset)), installedCopy, directories(process.env))
      : load(native, native);
  return loaded.binding;
}

/** What a worker thread gives to `nativeBindingAt`. */
export const nativePath = (): string | undefined => loaded?.path;

/**
 * The module that another thread has loaded, for this one. It must be the very same: two copies of SQLite in one process
 * know nothing of each other's locks, and take them from each other (sqlite.org, "How To Corrupt", 2.2.1).
 */
export const nativeBindingAt = (path: string | undefined): object | undefined =>
  path === undefined ? undefined : load(path, path).binding;

/**
 * Loads the module from these bytes: from the installed copy when it is the same, else from an unnamed file, else from
 * a private directory. Throws with the reasons of every place that was tried.
 */
export function loadNative(bytes: Buffer, installed: string, places: readonly string[]): LoadedModule {
  const digest = sha256(bytes);
  const reasons = new Set<string>();
  const ways = [
    () => fromInstalledCopy(installed, digest),
    ...places.map((place) => () => fromUnnamedFile(place, bytes)),
    ...places.map((place) => () => fromPrivateDirectory(place, bytes, digest)),
  ];
  for (const way of ways) {
    try {
      return way();
    } catch (error) {
      reasons.add((error as Error).message);
    }
  }
  throw new Error(
    'cannot load the SQLite module: no directory was found that can be written and run from. Set LARDER_NATIVE_DIR ' +
      `to a directory on a file system that is mounted without noexec. Tried: ${[...reasons].join('; ')}`,
  );
}

/** In the order of preference; systemd names the service's own directories in CACHE_DIRECTORY. */
function directories(environment: NodeJS.ProcessEnv): string[] {
  const { LARDER_NATIVE_DIR, CACHE_DIRECTORY, XDG_RUNTIME_DIR, XDG_CACHE_HOME, HOME, TMPDIR } = environment;
  const home = XDG_CACHE_HOME ?? (HOME === undefined ? undefined : join(HOME, '.cache'));
  const named = [LARDER_NATIVE_DIR, ...(CACHE_DIRECTORY ?? '').split(':'), XDG_RUNTIME_DIR, home, TMPDIR];
  const absolute = named.filter((directory) => directory?.startsWith('/') === true) as string[];
  return [...new Set([...absolute, '/tmp', '/var/tmp', '/dev/shm'])];
}

/**
 * Only root may have written it, and the file that was read is the file that is loaded. Its descriptor stays open, here
 * as below, so that its path leads to the same file for other threads, whatever an upgrade installs meanwhile.
 */
function fromInstalledCopy(file: string, digest: string): LoadedModule {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const status = fstatSync(fd);
    if (!status.isFile() || status.uid !== 0 || writableByOthers(status)) throw new Error(`${file}: not root's alone`);
    if (sha256(readFileSync(fd)) !== digest) throw new Error(`${file}: belongs to another version`);
    return load(`/proc/self/fd/${String(fd)}`, file);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** A file without a name: nothing to tamper with, and nothing left behind. */
function fromUnnamedFile(directory: string, bytes: Buffer): LoadedModule {
  // open(2), O_TMPFILE; Node has no constant for it. The number is the same on x64 and arm64, O_DIRECTORY is not.
  const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
  const writing = openSync(directory, O_TMPFILE | constants.O_RDWR, 0o500);
  let reading: number;
  try {
    writeFileSync(writing, bytes);
    reading = openSync(`/proc/self/fd/${String(writing)}`, constants.O_RDONLY);
  } finally {
    closeSync(writing);
  }
  try {
    return load(`/proc/self/fd/${String(reading)}`, directory);
  } catch (error) {
    closeSync(reading);
    throw error;
  }
}

/** Where /proc is hidden or the file system knows no unnamed files: a directory that nobody else can enter. */
function fromPrivateDirectory(parent: string, bytes: Buffer, digest: string): LoadedModule {
  const user = process.geteuid?.() ?? 0;
  const directory = join(parent, `larder-native-${String(user)}`);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const status = lstatSync(directory);
  if (!status.isDirectory() || status.uid !== user || (status.mode & 0o077) !== 0) {
    throw new Error(`${directory}: not a directory of ours alone`);
  }
  const file = join(directory, `${digest}.node`);
  const fresh = join(directory, `${digest}.${String(process.pid)}`);
  rmSync(fresh, { force: true });
  try {
    writeFileSync(fresh, bytes, { mode: 0o500, flag: 'wx' });
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
  return load(file, directory);
}

function load(path: string, place: string): LoadedModule {
  const module = { exports: {} };
  try {
    process.dlopen(module, path);
  } catch (error) {
    throw new Error(`${place}: ${(error as Error).message}`, { cause: error });
  }
  return { binding: module.exports, path };
}

function writableByOthers(status: Stats): boolean {
  return (status.mode & 0o022) !== 0;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
