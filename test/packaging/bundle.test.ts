// The bundled program reads the same in every encoding, with any characters in its sources.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';

import t from 'tap';

import { bundle, inAscii, otherCommands, root } from '../../packaging/bundle.ts';
import { textFor } from '../../packaging/program.ts';

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

t.test('the short program shows the same first screen of the help as the whole one', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'larder-bundle-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const short = join(folder, 'help.cjs');
  bundle('src/main.ts', short, otherCommands());
  const [ofShort, ofWhole] = [short, join(root, 'src/main.ts')].map((program) =>
    execFileSync(process.execPath, [program, 'help'], { encoding: 'utf8' }),
  );
  t.match(ofShort, /First steps/);
  t.equal(ofShort, ofWhole);
  t.notMatch(readFileSync(short, 'latin1'), /CREATE TABLE|better-sqlite3/, 'without the store');
  t.end();
});

t.test('only a command line that needs no other command runs the short program', (t) => {
  for (const word of ['help', 'version', '--help', '-h', '--version']) t.equal(textFor([word]), 'help');
  for (const line of [
    [],
    ['serve'],
    ['help', 'serve'],
    ['help', '--all'],
    ['version', '--json'],
    ['serve', '--help'],
  ]) {
    t.equal(textFor(line), 'program', line.join(' '));
  }
  t.end();
});
