// Loads the native module of SQLite. In a checkout better-sqlite3 finds its own; the executable contains it and must pass it to the dynamic
// loader as a file that no other user can replace.
import { createDigest } from '#domain/cryptography.ts';
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
import { isSea } from 'node:sea';
import { workerData } from 'node:worker_threads';

import { openAsset } from './executable-file.ts';
import { releaseBuffer } from './small-heap.ts';

/** The asset name of the module in the executable; packaging/build.ts writes it. */
export const nativeAsset = 'native/better_sqlite3.node';

/** The copy of the system package, for hosts that execute no file from a writable place. */
const installedCopy = '/usr/lib/larder/better_sqlite3.node';

export interface LoadedModule {
  binding: object;
  /** The path that it was loaded from. */
  path: string;
}

let loaded: LoadedModule | undefined;

/** The options for `new Database(file, { nativeBinding })` in the executable; undefined in a checkout. */
export function nativeBinding(): object | undefined {
  if (!isSea()) return undefined;
  const { native } = (workerData ?? {}) as { native?: string };
  loaded ??= native === undefined ? loadEmbedded() : load(native, native);
  return loaded.binding;
}

function loadEmbedded(): LoadedModule {
  const bytes = openAsset(nativeAsset)();
  try {
    return loadNative(bytes, installedCopy, directories(process.env));
  } finally {
    releaseBuffer(bytes);
  }
}

/** The path that a worker thread passes to `nativeBindingAt`. */
export const nativePath = (): string | undefined => loaded?.path;

/**
 * Returns the module that another thread has loaded. It must be the same file: two copies of SQLite in one process do not see each other's
 * locks, and break them (sqlite.org, "How To Corrupt", 2.2.1).
 */
export const nativeBindingAt = (path: string | undefined): object | undefined =>
  path === undefined ? undefined : load(path, path).binding;

/**
 * Loads the module from the installed copy if it equals these bytes, else from an unnamed file, else from a private directory. If all
 * places fail, throws with the reason of each.
 */
export function loadNative(bytes: Buffer, installed: string, places: readonly string[]): LoadedModule {
  let computed: string | undefined;
  const digest = (): string => (computed ??= sha256(bytes));
  const reasons = new Set<string>();
  const ways = [
    () => fromInstalledCopy(installed, digest),
    ...places.map((place) => () => fromUnnamedFile(place, bytes)),
    ...places.map((place) => () => fromPrivateDirectory(place, bytes, digest())),
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

/** In order of preference; systemd passes the directories of the service in CACHE_DIRECTORY. */
function directories(environment: NodeJS.ProcessEnv): string[] {
  const { LARDER_NATIVE_DIR, CACHE_DIRECTORY, XDG_RUNTIME_DIR, XDG_CACHE_HOME, HOME, TMPDIR } = environment;
  const home = XDG_CACHE_HOME ?? (HOME === undefined ? undefined : join(HOME, '.cache'));
  const candidates = [LARDER_NATIVE_DIR, ...(CACHE_DIRECTORY ?? '').split(':'), XDG_RUNTIME_DIR, home, TMPDIR];
  const absolute = candidates.filter((directory) => directory?.startsWith('/') === true) as string[];
  return [...new Set([...absolute, '/tmp', '/var/tmp', '/dev/shm'])];
}

/**
 * Checks that only root can have written the copy, and loads exactly the file that was read. The descriptor stays open, here as below, so
 * that its path leads other threads to the same file even if an upgrade installs a new one.
 */
function fromInstalledCopy(file: string, digest: () => string): LoadedModule {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const status = fstatSync(fd);
    if (!status.isFile() || status.uid !== 0 || writableByOthers(status)) throw new Error(`${file}: not root's alone`);
    if (sha256(readFileSync(fd)) !== digest()) throw new Error(`${file}: belongs to another version`);
    return load(`/proc/self/fd/${String(fd)}`, file);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Loads from a file without a name: it cannot be tampered with, and leaves nothing behind. */
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

/** Loads from a directory that only this user can enter, if /proc is hidden or the file system does not support unnamed files. */
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
  return createDigest('content sha256').update(bytes).digest('hex');
}
