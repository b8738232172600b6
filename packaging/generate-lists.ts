// Writes src/acts/declared.ts and src/console/declared.ts, the lists of all acts and of all pages of the console, by subject. A new one needs
// no line in a list; `test/architecture.test.ts` finds what a list misses.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { writeGenerated } from './write-generated.ts';

export interface GeneratedList {
  module: string;
  /** The functions that declare entries: `export const NAME = MAKER(`. */
  makers: readonly string[];
  /** The type of an entry, and the line that imports it. */
  entry: string;
  typeImport: string;
}

export const generatedLists: readonly GeneratedList[] = [
  {
    module: 'acts',
    makers: ['act'],
    entry: 'Act<never, unknown>',
    typeImport: "import type { Act } from './act.ts';",
  },
  {
    module: 'console',
    makers: ['operation', 'screen', 'formHandler', 'fileHandler', 'declareFileUpload'],
    entry: '(Operation | readonly Operation[])',
    typeImport: "import type { Operation } from '#http/operation.ts';",
  },
];

/** The module with the list of what these files declare (path in the module → text): by folder, in the order of the files. */
export function declaredList(files: ReadonlyMap<string, string>, list: Omit<GeneratedList, 'module'>): string {
  const { makers, entry, typeImport } = list;
  const declaration = new RegExp(`^export const (\\w+) = (?:${makers.join('|')})[<(]`, 'gm');
  const declaring = [...files]
    .map(([path, text]) => ({ path, names: Array.from(text.matchAll(declaration), ([, name = '']) => name) }))
    .filter(({ names }) => names.length > 0);
  const imports = declaring.map(({ path, names }) => `import { ${names.join(', ')} } from './${path}';\n`);
  const lines = [...Map.groupBy(declaring, ({ path }) => dirname(path))].map(
    ([folder, group]) => `  '${folder}': [${group.flatMap(({ names }) => names).join(', ')}],\n`,
  );
  return `// Made from the files of this module by packaging/generate-lists.ts. Not to be edited.
${typeImport}
${imports.join('')}
export const declared: Readonly<Record<string, readonly ${entry}[]>> = {
${lines.join('')}};
`;
}

/** Brings the lists below `src` up to date. */
export function writeLists(src: string): void {
  for (const list of generatedLists) {
    const folder = join(src, list.module);
    const paths = globSync('**/*.ts', { cwd: folder }).sort();
    const files = new Map(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
    writeGenerated(join(folder, 'declared.ts'), declaredList(files, list));
  }
}
