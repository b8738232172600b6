// What travels with the program: schemas, migrations, pages and worker code.
// From a checkout they are files below the project's root; in the executable they are assets inside it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { Worker, type WorkerOptions } from 'node:worker_threads';

const root = join(import.meta.dirname, '..');

/** The text of an embedded file; `path` is relative to the project's root, e.g. `schemas/names.json`. */
export function embeddedText(path: string): string {
  return isSea() ? getAsset(path, 'utf8') : readFileSync(join(root, path), 'utf8');
}

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
 * Starts a worker thread from a source file such as `src/review/worker.ts`.
 * Inside the executable a worker cannot be started from a path, so its bundled code is an asset of the same name.
 */
export function startWorker(entry: string, options: WorkerOptions = {}): Worker {
  return isSea()
    ? new Worker(getAsset(entry, 'utf8'), { ...options, eval: true })
    : new Worker(join(root, entry), withCompileCache(options));
}

/** Worker options under which a checkout's source files are not compiled anew for each worker: that takes 250 ms of processor time. */
function withCompileCache(options: WorkerOptions): WorkerOptions {
  // eslint-disable-next-line no-restricted-properties -- a setting of Node, which a worker with an environment of its own would lack
  const folder = process.env['NODE_COMPILE_CACHE'];
  if (folder === undefined || typeof options.env !== 'object') return options;
  return { ...options, env: { ...options.env, NODE_COMPILE_CACHE: folder } };
}

/** How this program is started once more, with these arguments, as `child_process.fork` wants it. */
export function programAgain(args: readonly [string, ...string[]]): {
  exec: string;
  args: string[];
  execArgv: string[];
} {
  const [first, ...others] = args;
  // The executable has its own main program, so that what stands for its file is already an argument.
  if (isSea()) return { exec: first, args: others, execArgv: [] };
  return { exec: join(root, 'src/main.ts'), args: [...args], execArgv: process.execArgv };
}

/** Starts a command of this program, as it would be typed, in a thread of its own; a message to it is a signal that ends it. */
export function startCommand(argv: readonly string[], options: WorkerOptions): Worker {
  const how = { ...options, argv: [...argv], stdout: true, stderr: true };
  return isSea()
    ? new Worker(getAsset('program.cjs', 'latin1'), { ...how, eval: true })
    : new Worker(join(root, 'src/main.ts'), how);
}

/** How a part of the appliance is handed `startWorker`. */
export type StartWorker = (options?: WorkerOptions) => Worker;
