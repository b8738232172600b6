// The program in parts and its workers as one text each, and which packages are in them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

import { buildSync, transformSync, type BuildOptions } from 'esbuild';

import { packagedAssets } from '#console/asset-files.ts';
import type { ProgramPart } from './program.ts';

export const root = join(import.meta.dirname, '..');

/** One CommonJS text: an evaluated worker takes nothing else. */
export function bundle(entry: string, outfile: string): void {
  const { outputFiles } = buildSync({ ...options(entry), outfile, write: false });
  mkdirSync(dirname(outfile), { recursive: true });
  writeFileSync(outfile, inAscii(outputFiles[0]!.text));
}

/**
 * The program in parts, name → CommonJS text: a part for what is imported on demand, such as a command, and for what several of them
 * share. A process reads the parts that it needs. The parts of the entries in `frequent` come first, so that a process that needs these
 * touches few pages of the others, and they alone are compiled in the executable: the code of the others would take 1.4 MB. All functions
 * are compiled in the parts with the sources in `used`, most of whose functions every command runs. With those of the
 * configuration `larder status` takes 8 % less time, and the executable is 0.3 MB larger (`npm run bench -- memory`).
 */
export function bundleInParts(
  entry: string,
  { frequent = [], used = [] }: { frequent?: readonly string[]; used?: readonly string[] } = {},
): Map<string, ProgramPart> {
  const { outputFiles, metafile } = buildSync({
    ...options(entry),
    format: 'esm',
    splitting: true,
    // Made a call of require below, which knows what a part exports by default.
    supported: { 'dynamic-import': true },
    outdir: join(root, 'none'),
    write: false,
    metafile: true,
  });
  const all = Object.entries(metafile.outputs).sort(([left], [right]) => (left < right ? -1 : 1));
  const names = new Set<string>();
  const add = (name: string): void => {
    if (names.has(name)) return;
    names.add(name);
    for (const { path, kind } of metafile.outputs[name]?.imports ?? [])
      if (kind === 'import-statement' && path in metafile.outputs) add(path);
  };
  for (const first of frequent) for (const [name, { entryPoint }] of all) if (entryPoint === first) add(name);
  const compiled = new Set(names);
  for (const [name] of all) add(name);
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const isUsed = (name: string): boolean => used.some((source) => source in (metafile.outputs[name]?.inputs ?? {}));
  return new Map(
    [...names].map((name) => {
      const text = inAscii(asCommonJs(texts.get(basename(name)) ?? ''));
      return [basename(name), { text, compiled: isUsed(name) ? 'all' : compiled.has(name) ? 'outermost' : 'none' }];
    }),
  );
}

/** The bundler splits only modules of ECMAScript, and a script of the engine is none. */
const asCommonJs = (module: string): string =>
  transformSync(module, {
    format: 'cjs',
    target: 'node24',
    minifyWhitespace: true,
    lineLimit: 200,
    supported: { 'dynamic-import': false },
  }).code;

/**
 * Escapes characters outside ASCII, so that each character of the text takes one byte in memory and reads the same in
 * every encoding. The bundler does not do it in tagged templates, because an escape changes the text for `String.raw`.
 */
export function inAscii(program: string): string {
  const raw = /String\.raw`[^`]*[^\0-\x7f]/.exec(program);
  if (raw !== null) throw new Error(`cannot write this in ASCII: ${raw[0].slice(0, 200)}`);
  return program.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The files below `src` that run in a thread of their own; each is a text of its own in the executable. */
export const workers = (): string[] => files('src').filter((path) => /(?:^|[/-])worker\.ts$/.test(path));

/** Files of packages that travel with the program as they are, and are not part of its text. */
export const packageFiles = ['node_modules/@zxcvbn-ts/language-common/src/passwords.json', ...packagedAssets];

const folderOf = (path: string): string | undefined => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];

/** The folders in node_modules of every package that the program and its workers are made of, sorted. */
export function bundledPackages(): string[] {
  const folders = new Set<string>(packageFiles.map(folderOf).filter((folder) => folder !== undefined));
  for (const entry of ['src/main.ts', ...workers()]) {
    const { metafile } = buildSync({
      ...options(entry),
      write: false,
      metafile: true,
      outfile: join(root, 'none.cjs'),
    });
    for (const input of Object.keys(metafile.inputs)) {
      const folder = folderOf(input);
      if (folder !== undefined) folders.add(folder);
    }
  }
  return [...folders].sort();
}

/** The files below a folder of the project, sorted. */
export function files(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

/** The release, as package.json states it. */
export const release = (): string =>
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;

const options = (entry: string) =>
  ({
    absWorkingDir: root,
    tsconfig: join(root, 'tsconfig.json'),
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // A third of the text would be blanks and comments. Its lines stay short enough for a place in one to say something.
    minifyWhitespace: true,
    lineLimit: 200,
    logLevel: 'warning',
    // `debug` would take it when it is there, and it is there for the tools of development alone.
    external: ['supports-color'],
    // A script of the engine cannot import; what the text imports on demand is in it, or built into Node.
    supported: { 'dynamic-import': false },
    // The names of the bundled files are part of the text; behind a linked node_modules they must be the same.
    preserveSymlinks: true,
    // The executable has no files beside it. A file of the checkout is read by its embedded name.
    define: {
      'import.meta.dirname': '"/embedded"',
      'import.meta.filename': '"/embedded/main.cjs"',
      'import.meta.url': '"file:///embedded/main.cjs"',
      'import.meta.main': 'false',
    },
  }) satisfies BuildOptions;
