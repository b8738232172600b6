// The files that ship with the program: schemas, migrations, pages and worker code. In a checkout they are files below the root of the
// project; in the executable they are assets.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, getRawAsset, isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

const root = join(import.meta.dirname, '../..');

/** The text of an embedded file; `path` is relative to the root of the project, e.g. `schemas/names.json`. */
export function embeddedText(path: string): string {
  return isSea() ? getAsset(path, 'utf8') : readFileSync(join(root, path), 'utf8');
}

/**
 * The text of a file that a build adds to those of the sources, such as the bill of materials; undefined if there is none. A checkout has
 * no build: its tests put such files into the folder in LARDER_BUILT.
 */
export function builtText(name: string): string | undefined {
  if (isSea()) return embeddedNames('built').includes(name) ? getAsset(`built/${name}`, 'utf8') : undefined;
  // eslint-disable-next-line no-restricted-properties -- the environment names the files of a build, as for the build itself
  const folder = process.env['LARDER_BUILT'];
  const file = folder === undefined ? undefined : join(folder, name);
  return file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** The bytes of an embedded file, such as a font. */
export function embeddedBytes(path: string): Uint8Array {
  return isSea() ? new Uint8Array(getRawAsset(path)) : readFileSync(join(root, path));
}

/** Whether the program runs from a checkout and not from the executable. */
export const isCheckout = (): boolean => !isSea();

/** The names of the embedded files directly in a folder, sorted. */
export function embeddedNames(folder: string): string[] {
  if (!isSea()) return readdirSync(join(root, folder)).sort();
  const all = JSON.parse(getAsset('assets.json', 'utf8')) as string[];
  return all
    .filter((path) => path.startsWith(`${folder}/`))
    .map((path) => path.slice(folder.length + 1))
    .sort();
}

/**
 * Starts a worker thread from a source file such as `src/review/worker.ts`. In the executable a worker cannot be started from a path, so
 * its bundled code is an asset of the same name.
 */
export function startWorker(entry: string, options: WorkerOptions = {}): Worker {
  return isSea()
    ? new Worker(getAsset(entry, 'utf8'), { ...options, eval: true })
    : new Worker(join(root, entry), withCompileCache(options));
}

/**
 * Adds the compile cache of a checkout to the options: without it, compiling the source files takes 250 ms of processor time per worker.
 */
function withCompileCache(options: WorkerOptions): WorkerOptions {
  // eslint-disable-next-line no-restricted-properties -- a setting of Node, which a worker with an environment of its own would lack
  const folder = process.env['NODE_COMPILE_CACHE'];
  if (folder === undefined || typeof options.env !== 'object') return options;
  return { ...options, env: { ...options.env, NODE_COMPILE_CACHE: folder } };
}

/** Returns how to start this program with these arguments, for `child_process.fork`. */
export function programAgain(args: readonly [string, ...string[]]): {
  exec: string;
  args: string[];
  execArgv: string[];
} {
  const [first, ...others] = args;
  // The executable contains its main program, so the first argument takes the place of the script.
  if (isSea()) return { exec: first, args: others, execArgv: [] };
  return { exec: join(root, 'src/main.ts'), args: [...args], execArgv: process.execArgv };
}

/** The asset with the main program of the executable; packaging/build.ts writes it. */
export const launchAsset = 'launch.cjs';

/** Starts a command of this program in a worker thread, with arguments as typed; a message to the thread acts as a signal to end. */
export function startCommand(argv: readonly string[], options: WorkerOptions): Worker {
  const how = { ...options, argv: [...argv], stdout: true, stderr: true };
  return isSea()
    ? new Worker(getAsset(launchAsset, 'latin1'), { ...how, eval: true })
    : new Worker(join(root, 'src/main.ts'), how);
}

/** The type of `startWorker` for one part of the appliance. */
export type StartWorker = (options?: WorkerOptions) => Worker;
