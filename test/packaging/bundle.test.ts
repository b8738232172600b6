// The bundled program reads the same in every encoding, with any characters in its sources.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';

import t from 'tap';

import { bundle, inAscii } from '../../packaging/bundle.ts';

t.test('the texts of a bundled program are unchanged, even if it is read as Latin-1', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'larder-bundle-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const texts = ['plain \u2014 text', 'template \u2026', 'tagged \u2014 \u{1f4e6}'];
  writeFileSync(
    join(folder, 'in.ts'),
    `const tag = (parts: TemplateStringsArray) => parts[0];
     export const texts = ['${texts[0]!}', \`${texts[1]!}\`, tag\`${texts[2]!}\`];`,
  );
  bundle(join(folder, 'in.ts'), join(folder, 'out.cjs'));
  const program = readFileSync(join(folder, 'out.cjs'), 'latin1');
  t.match(program, /^[\0-\x7f]*$/);
  const module = { exports: {} as { texts?: string[] } };
  const run = compileFunction(program, ['module', 'exports']) as (module: object, exports: object) => void;
  run(module, module.exports);
  t.same(module.exports.texts, texts);
  t.throws(() => inAscii('String.raw`\u2014`'), /cannot write this in ASCII/);
  t.end();
});

t.test('the whole program is ASCII', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'larder-bundle-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  bundle('src/main.ts', join(folder, 'main.cjs'));
  t.match(readFileSync(join(folder, 'main.cjs'), 'latin1'), /^[\0-\x7f]*$/);
  t.end();
});
