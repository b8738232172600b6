// Builds dist/larder: the bundled program, its workers, its embedded files and the Node runtime in one executable.
// packaging/README.md gives the reasons. The same sources give the same bytes in any directory.
//
//   node packaging/build.ts               for this machine's architecture
//   node packaging/build.ts --arch arm64  dist/larder-arm64, for the other one
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';

import packer from '@yao-pkg/pkg/lib-es5/sea.js';

import { launchAsset } from '#platform/embedded.ts';
import { placesAsset, type AssetPlaces } from '#platform/executable-file.ts';
import { nativeAsset } from '#platform/native.ts';
import { readReleaseKeys, releaseKeysFile } from '#transfers/larder-release/release-keys.ts';
import { bundle, bundleInParts, files, packageFiles, release, root, workers } from './bundle.ts';
import { commitOf } from './commit.ts';
import { dynamicSymbols, withoutDebuggingData } from './elf.ts';
import { asFunction, assetsOfProgram, scriptOf, type ProgramIndex } from './program.ts';
import { thirdParties } from './third-party.ts';
import { digest, ownArchitecture, runtimeFor, type Architecture } from './runtime.ts';

const sizeLimit = 125_000_000;
const work = join(root, 'dist/build');

/** Holds the space of the places, which are known only when the executable is complete. */
const noPlaces = '{}'.padEnd(400);

/** Commands whose parts come first in the executable, and compiled: the ones that people run most, and the server. */
const frequentCommands = [
  'store/status',
  'accounts/list',
  'store/config/get',
  'store/doctor',
  'store/verify',
  'store/serve',
];

if (import.meta.main) {
  const { values } = parseArgs({ options: { arch: { type: 'string' } } });
  await buildExecutable(architecture(values.arch));
}

/** Builds the executable for an architecture; its file. */
export async function buildExecutable(arch: Architecture): Promise<string> {
  const runtime = runtimeFor(arch);
  const output = join(root, arch === process.arch ? 'dist/larder' : `dist/larder-${arch}`);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  bundle('packaging/launch.ts', join(work, 'main.cjs'));
  const shortened = join(work, 'node');
  writeFileSync(shortened, withoutDebuggingData(runtime), { mode: 0o755 });
  const packed = assets(arch);
  await pack(shortened, arch, packed);
  writePlaces(join(work, 'larder'), packed);
  const version = verify(join(work, 'larder'), runtime, arch);
  renameSync(join(work, 'larder'), output);
  rmSync(work, { recursive: true });
  console.log(
    `${relative(root, output)}: ${version}, ${String(statSync(output).size)} bytes, sha256 ${digest(output)}`,
  );
  return output;
}

/** An architecture by either of its names, Node's or Debian's. */
export function architecture(name: string | undefined): Architecture {
  if (name === undefined) return ownArchitecture();
  if (name === 'x64' || name === 'amd64') return 'x64';
  if (name === 'arm64') return 'arm64';
  throw new Error(`cannot build for ${name}: larder runs on amd64 and arm64`);
}

/** SQLite's native module, as its package brings it for each architecture. */
export function nativeModule(arch: Architecture): string {
  const lib = dirname(createRequire(import.meta.url).resolve('better-sqlite3'));
  return join(lib, '../prebuilds', `linux-${arch}.node`);
}

/** The embedded files: name in the executable → path of the file. */
function assets(arch: Architecture): Record<string, string> {
  const embedded = new Map<string, string>();
  for (const path of workers()) {
    const file = join(work, 'workers', `${path}.cjs`);
    bundle(path, file);
    embedded.set(path, file);
  }
  const data = files('src').filter((path) => !/\.(?:ts|md)$/.test(path));
  for (const path of [...data, ...files('schemas'), ...files('config'), ...packageFiles, 'package.json']) {
    embedded.set(path, path.endsWith('.json') ? withoutBlanks(path, path === 'package.json') : join(root, path));
  }
  embedded.set(nativeAsset, nativeModule(arch));
  const releaseKeys = process.env['LARDER_RELEASE_KEYS'];
  if (releaseKeys !== undefined) {
    readReleaseKeys(readFileSync(releaseKeys, 'utf8'));
    embedded.set(releaseKeysFile, releaseKeys);
  }
  // The preview of a newer release compares its bill of materials with this list.
  const components = join(work, 'components.json');
  writeFileSync(
    components,
    JSON.stringify({ components: thirdParties(arch).map(({ name, version }) => ({ name, version })) }),
  );
  embedded.set('built/components.json', components);
  for (const [name, file] of Object.entries(program(arch))) embedded.set(name, file);
  embedded.set(launchAsset, join(work, 'main.cjs'));
  const places = join(work, placesAsset);
  writeFileSync(places, noPlaces);
  embedded.set(placesAsset, places);
  const list = join(work, 'assets.json');
  writeFileSync(list, JSON.stringify([...embedded.keys()].sort()));
  embedded.set('assets.json', list);
  return Object.fromEntries([...embedded].sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** A JSON file as it is embedded: programs read it, and a third of it is there for people. */
function withoutBlanks(path: string, withCommit: boolean): string {
  const file = join(work, 'json', path);
  mkdirSync(dirname(file), { recursive: true });
  const content = JSON.parse(readFileSync(join(root, path), 'utf8')) as object;
  writeFileSync(file, JSON.stringify(withCommit ? { ...content, commit: commitOf(root) } : content));
  return file;
}

/** The program, and its code compiled by the engine of this architecture; the engine of another one would reject it. */
function program(arch: Architecture): Record<string, string> {
  const { parts: partsName, index: indexName } = assetsOfProgram;
  const [all, parts, index] = [join(work, 'all.json'), join(work, partsName), join(work, indexName)];
  const main = 'src/main.ts';
  const frequent = [main, ...frequentCommands.map((command) => `src/cli/${command}.ts`)];
  const bundled = bundleInParts(main, { frequent, used: ['src/configuration/config.ts'] });
  const functions = [...bundled].map(([name, part]) => [name, { ...part, text: asFunction(part.text) }] as const);
  writeFileSync(all, JSON.stringify(Object.fromEntries(functions)));
  const script = join(import.meta.dirname, 'precompile.ts');
  // Any debugger that watches the build writes into the environment of its processes, which would change the compiled
  // code.
  const plain = ['-i', process.execPath, '--random-seed=1', script, all, parts, index];
  execFileSync('/usr/bin/env', arch === process.arch ? plain : [...plain, '--without-code'], { stdio: 'ignore' });
  if (arch === process.arch)
    refuseRejected(readFileSync(parts), JSON.parse(readFileSync(index, 'utf8')) as ProgramIndex);
  return { [partsName]: parts, [indexName]: index };
}

function refuseRejected(parts: Buffer, index: ProgramIndex): void {
  for (const [name, [from, compiledFrom, to]] of Object.entries(index)) {
    if (compiledFrom === to) continue;
    const text = parts.toString('latin1', from, compiledFrom);
    const { cachedDataRejected } = scriptOf(name, text, parts.subarray(compiledFrom, to));
    if (cachedDataRejected !== false) throw new Error(`cannot use the compiled code of ${name}: it is rejected`);
  }
}

async function pack(runtime: string, arch: Architecture, assets: Record<string, string>): Promise<void> {
  // The packer works in a temporary directory and writes the path of the main program into the executable. With that
  // directory below ours, the relative path is always the same.
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = work;
  const settings = {
    main: '../main.cjs',
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: false,
    // Without this, NODE_OPTIONS could run foreign code inside the store.
    execArgvExtension: 'none',
    execArgv: ['--disable-proto=delete'],
    assets,
  };
  await packer.default(join(work, 'main.cjs'), {
    targets: [{ platform: 'linux', arch, nodeRange: 'node24', output: join(work, 'larder') }],
    nodePath: runtime,
    // The blob is made by the Node that runs this, of the same version; the runtime may be for another architecture.
    useLocalNode: true,
    seaConfig: settings,
  });
  if (TMPDIR === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = TMPDIR;
  chmodSync(join(work, 'larder'), 0o755);
}

/** Writes where the assets are that the program reads from the file of the executable. */
function writePlaces(executable: string, packed: Readonly<Record<string, string>>): void {
  const file = readFileSync(executable);
  const placeOf = (name: string): [number, number] => {
    const bytes = readFileSync(packed[name]!);
    const from = file.indexOf(bytes);
    if (from === -1) throw new Error(`cannot use the executable: the asset ${name} is not in it`);
    return [from, from + bytes.length];
  };
  const assets = Object.fromEntries([assetsOfProgram.parts, nativeAsset].map((name) => [name, placeOf(name)]));
  const places = JSON.stringify({ size: file.length, assets } satisfies AssetPlaces).padEnd(noPlaces.length);
  const at = file.indexOf(noPlaces);
  if (places.length !== noPlaces.length || at === -1 || at !== file.lastIndexOf(noPlaces))
    throw new Error('cannot use the executable: it has no space for the places of its assets');
  file.write(places, at, 'latin1');
  writeFileSync(executable, file);
}

/** The executable runs, its size is in bounds, and the injection has left the runtime's symbols as they were. */
function verify(executable: string, runtime: string, arch: Architecture): string {
  const [before, after] = [dynamicSymbols(runtime), dynamicSymbols(executable)];
  if (before.length === 0 || before.join('\n') !== after.join('\n')) {
    throw new Error('cannot use the executable: packing has changed the dynamic symbols of the runtime');
  }
  const { size } = statSync(executable);
  if (size > sizeLimit) throw new Error(`cannot use the executable: ${String(size)} bytes are too many`);
  const way = wayToRun(arch);
  if (way === undefined) return `${release()} for ${arch}, not run here`;
  const version = execFileSync('/usr/bin/env', ['-i', ...way, executable, 'version'], {
    env: {},
    encoding: 'utf8',
    timeout: 60_000,
  }).trim();
  if (!version.includes(release())) throw new Error(`cannot use the executable: it says it is '${version}'`);
  return version;
}

/** What to put before the executable so that it runs here; nothing at all where there is no way. */
export function wayToRun(arch: Architecture): string[] | undefined {
  if (arch === process.arch) return [];
  const [emulator, libraries] = ['/usr/bin/qemu-aarch64-static', '/usr/aarch64-linux-gnu'];
  const isInstalled =
    arch === 'arm64' && [emulator, `${libraries}/lib/libstdc++.so.6`].every((file) => existsSync(file));
  return isInstalled ? [emulator, '-L', libraries] : undefined;
}
