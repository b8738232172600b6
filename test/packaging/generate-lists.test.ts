// The generated lists of acts and of pages of the console.
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { declaredList, writeLists } from '../../packaging/generate-lists.ts';

const list = { makers: ['act'], entry: 'Act', typeImport: "import type { Act } from './act.ts';" };

t.test('a list has each exported declaration, by folder, in the order of the files', (t) => {
  const files = new Map([
    ['act.ts', 'export const act = (record) => record;\n'],
    [
      'keys/keys.ts',
      'export const addKey = act({\n});\nconst help = 1;\nexport const endKey = act<Input, void>({\n});\n',
    ],
    ['keys/more.ts', 'export const other = exact({});\n  export const inner = act({});\n'],
    ['sites/sites.ts', 'export const nameSite = act({\n});\n'],
  ]);
  t.equal(
    declaredList(files, list),
    `// Made from the files of this module by packaging/generate-lists.ts. Not to be edited.
import type { Act } from './act.ts';
import { addKey, endKey } from './keys/keys.ts';
import { nameSite } from './sites/sites.ts';

export const declared: Readonly<Record<string, readonly Act[]>> = {
  'keys': [addKey, endKey],
  'sites': [nameSite],
};
`,
  );
  t.end();
});

t.test('a list is written again only when a declaration has changed', (t) => {
  const src = t.testdir({ acts: { sites: { 'sites.ts': 'export const nameSite = act({});\n' } }, console: {} });
  const [target, file] = [join(src, 'acts/declared.ts'), join(src, 'acts/sites/sites.ts')];
  writeLists(src);
  t.match(readFileSync(target, 'utf8'), "'sites': [nameSite]");
  utimesSync(target, 1, 1);
  writeFileSync(file, 'export const nameSite = act({ name: 1 });\n');
  writeLists(src);
  t.equal(statSync(target).mtimeMs, 1000);
  writeFileSync(file, 'export const renameSite = act({});\n');
  writeLists(src);
  t.match(readFileSync(target, 'utf8'), "'sites': [renameSite]");
  t.end();
});
