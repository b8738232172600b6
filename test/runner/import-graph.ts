// Which file of src/, test/ and packaging/ imports which, read off the import lines.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

import { root } from './lanes.ts';

/** Types alone are erased: they change nothing that runs. */
const importLine =
  /^(?:import|export)\b(?! type\b)[^;'"]*?(?:from )?'([^']+)'(?: with \{[^}]*\})?;|\bimport\('([^']+)'\)/gm;
/** A file that another one names by its path, as that of a process, a worker or data. */
const pathText =
  /'((?:\.\.?\/|src\/|test\/|packaging\/|schemas\/|config\/)?[\w./-]+\.(?:ts|mjs|py|json|toml|html|css|js|sql|txt))'/g;

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Paths of files that it imports, or names and thus may start or read. */
  readonly uses: readonly string[];
}

/** The path from the root that a specifier of an import stands for; undefined for packages. */
function toPath(from: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(from), specifier));
  if (/^#(?:src|test)\//.test(specifier)) return specifier.slice(1);
  return specifier.startsWith('#') ? `src/${specifier.slice(1)}` : undefined;
}

function usesOf(path: string, text: string, knownPaths: ReadonlySet<string>): string[] {
  const imported = Array.from(text.matchAll(importLine), ([, first = '', other = '']) => toPath(path, first || other));
  const mentionedPaths = Array.from(text.matchAll(pathText), ([, name = '']) =>
    [name, normalize(join(dirname(path), name))].find((place) => knownPaths.has(place)),
  );
  return [...new Set([...imported, ...mentionedPaths])].filter(
    (place) => place !== undefined && knownPaths.has(place),
  ) as string[];
}

/** Large, and without an import that a test could reach. */
const generatedFiles = new Set(['src/contract/wire.ts', 'src/contract/config-validator.ts']);

/** Every source file by its path, and every other file of these folders without its text. */
export function readImportGraph(): Map<string, SourceFile> {
  const paths = globSync('{src,test,packaging,schemas,config,docs}/**/*.*', { cwd: root });
  const knownPaths = new Set(paths);
  return new Map(
    paths.map((path) => {
      if (!/\.(?:ts|mjs)$/.test(path) || generatedFiles.has(path)) return [path, { path, text: '', uses: [] }];
      const text = readFileSync(join(root, path), 'utf8');
      return [path, { path, text, uses: usesOf(path, text, knownPaths) }];
    }),
  );
}

/** A file and all that it imports, directly or not; `follows` says which files are looked into. */
export function importsOf(
  graph: ReadonlyMap<string, SourceFile>,
  start: string,
  follows: (path: string) => boolean = () => true,
): Set<string> {
  const seen = new Set([start]);
  for (const path of seen) {
    if (!follows(path)) continue;
    for (const used of graph.get(path)?.uses ?? []) seen.add(used);
  }
  return seen;
}
