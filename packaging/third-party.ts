// The third-party parts of the executable: the packages that esbuild bundles, SQLite with its native module, and the
// runtime; each with its version, its licence and the licence text.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { bundledPackages, root } from './bundle.ts';
import { digest, runtimeFor, type Architecture } from './runtime.ts';

export interface ThirdParty {
  name: string;
  version: string;
  /** Its path from the project. */
  folder: string;
  /** As its package states it, in SPDX's words. */
  licence: string;
  /** The text of the licence, with the names of the copyright holders. */
  text: string;
  kind: 'package' | 'library' | 'runtime';
  /** Digests in hexadecimal, under the names that CycloneDX has for them. */
  hashes: { alg: 'SHA-256' | 'SHA-512'; content: string }[];
  /** Whether larder itself names it, and not only what larder uses. */
  isDirect?: boolean;
  /** The parts of other packages that it uses, by their folders. */
  uses: string[];
}

interface Locked {
  version: string;
  integrity?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** All of it, sorted by name and version. */
export function thirdParties(arch: Architecture): ThirdParty[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked | undefined>;
  };
  const folders = new Set(bundledPackages());
  const packages = [...folders].map((folder): ThirdParty => {
    const locked = lock.packages[folder];
    const [algorithm, base64 = ''] = locked?.integrity?.split('-') ?? [];
    if (locked === undefined || algorithm !== 'sha512')
      throw new Error(`cannot tell what ${folder} is: it is not locked`);
    const { dependencies, optionalDependencies, peerDependencies } = locked;
    const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    return {
      name: folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version: locked.version,
      folder,
      ...licenceOf(folder),
      kind: 'package',
      isDirect: folder.slice('node_modules/'.length) in (lock.packages['']?.dependencies ?? {}),
      hashes: [{ alg: 'SHA-512', content: Buffer.from(base64, 'base64').toString('hex') }],
      uses: names.map((name) => resolveFolder(folder, name, folders)).filter((use) => use !== undefined),
    };
  });
  const library = packages.find(({ name }) => name === 'better-sqlite3');
  library?.uses.push(sqliteFolder);
  return [...packages, sqlite(), runtime(arch)].sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
}

const keyOf = ({ name, version, folder }: ThirdParty): string => `${name}\n${version}\n${folder}`;

/** The folder of a package of this name for an importer in another folder. */
function resolveFolder(from: string, name: string, folders: ReadonlySet<string>): string | undefined {
  for (let at = from; ; at = at.slice(0, at.lastIndexOf('/node_modules/'))) {
    if (folders.has(`${at}/node_modules/${name}`)) return `${at}/node_modules/${name}`;
    if (!at.includes('/node_modules/')) break;
  }
  return folders.has(`node_modules/${name}`) ? `node_modules/${name}` : undefined;
}

function licenceOf(folder: string): { licence: string; text: string } {
  const names = readdirSync(join(root, folder));
  const file = names.find((name) => /^licen[cs]e(?:\.(?:md|txt))?$/i.test(name));
  const about = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    name: string;
    license?: string;
  };
  const licence = about.license?.replace(/^\((.*)\)$/, '$1');
  if (licence === undefined) throw new Error(`cannot tell under which licence ${folder} is`);
  if (file !== undefined) return { licence, text: readFileSync(join(root, folder, file), 'utf8') };
  // Its text contains no name. It is the licence of larder itself.
  if (licence === 'Apache-2.0') return { licence, text: readFileSync(join(root, 'LICENSE'), 'utf8') };
  if (licence === 'MIT') return { licence, text: mit(about.name) };
  throw new Error(`cannot find the text of the licence of ${folder}`);
}

const sqliteFolder = 'node_modules/better-sqlite3/deps/sqlite3';

function sqlite(): ThirdParty {
  const header = readFileSync(join(root, sqliteFolder, 'sqlite3.h'), 'utf8');
  const version = /^#define SQLITE_VERSION\s+"([\d.]+)"/m.exec(header)?.[1];
  if (version === undefined) throw new Error('cannot tell which SQLite is in better-sqlite3');
  const text = 'SQLite is in the public domain: its authors disclaim copyright to its source code.\n';
  const about = { folder: sqliteFolder, licence: 'blessing', text, hashes: [], uses: [] };
  return { name: 'sqlite', version, kind: 'library', ...about };
}

function runtime(arch: Architecture): ThirdParty {
  const file = runtimeFor(arch);
  return {
    name: 'node',
    version: process.version.slice(1),
    folder: `node_modules/node-linux-${arch}`,
    licence: 'MIT',
    text: readFileSync(join(file, '../../LICENSE'), 'utf8'),
    kind: 'runtime',
    hashes: [{ alg: 'SHA-256', content: digest(file) }],
    uses: [],
  };
}

/** For a package that states this licence and brings no text of it. */
const mit = (name: string): string => `Copyright (c) the authors of ${name}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;
