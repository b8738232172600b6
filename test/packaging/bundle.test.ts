// The bundled program reads the same in every encoding, with any characters in its sources.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';

import t from 'tap';

import { bundle, bundleInParts, inAscii, root } from '../../packaging/bundle.ts';
import { compilePart } from '../../packaging/precompile.ts';
import { asFunction, layOut, scriptOf, type ProgramPart } from '../../packaging/program.ts';

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

t.test('the bundled program is ASCII, and its help shows the same with a few of its parts', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'larder-bundle-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [preload, list] = [join(folder, 'list-parts.cjs'), join(folder, 'list')];
  const listParts = 'require("node:fs").writeFileSync(process.env.PARTS, Object.keys(require.cache).join("\\n"))';
  writeFileSync(preload, `process.on('exit', () => ${listParts});`);
  const parts = bundleInParts('src/main.ts', { frequent: ['src/main.ts'], used: ['src/cli/frame/terminal.ts'] });
  const compiled = [...parts.values()].map(({ compiled }) => compiled);
  t.equal([...parts.keys()][0], 'main.js', 'the entry comes first');
  t.equal(compiled[0], 'outermost', 'compiled');
  t.equal(compiled.filter((how) => how === 'all').length, 1, 'all functions of one part');
  t.equal(compiled.at(-1), 'none', 'a part of another command');
  for (const [name, { text }] of parts) {
    if (/[^\0-\x7f]/.test(text)) t.fail(`${name} is not ASCII`);
    writeFileSync(join(folder, name), text);
  }
  const environment = { ...process.env, PARTS: list };
  const [ofParts, ofSources] = [['--require', preload, join(folder, 'main.js')], [join(root, 'src/main.ts')]].map(
    (program) => execFileSync(process.execPath, [...program, 'help'], { encoding: 'utf8', env: environment }),
  );
  t.match(ofParts, /First steps/);
  t.equal(ofParts, ofSources);
  const loaded = readFileSync(list, 'utf8').split('\n');
  t.ok(loaded.length < 30, `${String(loaded.length)} of ${String(parts.size)} parts`);
  const texts = loaded.map((file) => readFileSync(file, 'latin1')).join('');
  t.notMatch(texts, /CREATE TABLE|better-sqlite3/, 'without the store');
  t.end();
});

t.test('a package of CommonJS that is imported on demand has its default export in a part, too', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'larder-bundle-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [entry, out] = [join(folder, 'main.ts'), join(folder, 'out')];
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'old.cjs'), 'module.exports = { value: 7 };');
  writeFileSync(entry, "void import('./old.cjs').then((old) => console.log(old.default.value));");
  mkdirSync(out);
  writeFileSync(join(out, 'package.json'), '{"type":"commonjs"}');
  for (const [name, { text }] of bundleInParts(entry)) writeFileSync(join(out, name), text);
  t.equal(execFileSync(process.execPath, [join(out, 'main.js')], { encoding: 'utf8' }), '7\n');
  t.end();
});

t.test('parts are found in the executable by their index, and their compiled code is taken', (t) => {
  const text = asFunction("const inner = () => 'never called'; module.exports = 1;");
  const all: Record<string, ProgramPart> = {
    'all.js': { text, compiled: 'all' },
    'outermost.js': { text, compiled: 'outermost' },
    'none.js': { text: asFunction('module.exports = 22;'), compiled: 'none' },
  };
  const { parts, index } = layOut(all, compilePart);
  t.strictSame(Object.keys(index), Object.keys(all));
  for (const [name, [from, compiledFrom, to]] of Object.entries(index)) {
    const text = parts.toString('latin1', from, compiledFrom);
    t.equal(text, all[name]?.text);
    const compiled = parts.subarray(compiledFrom, to);
    if (name !== 'none.js') t.equal(scriptOf(name, text, compiled).cachedDataRejected, false, name);
    for (const place of [from, compiledFrom]) t.equal(place % 8, 0, 'begins on a word');
  }
  const sizes = Object.values(index).map(([, compiledFrom, to]) => to - compiledFrom);
  t.ok(sizes[0]! > sizes[1]!, 'with the inner function');
  t.equal(sizes[2], 0);
  const bare = layOut(all, () => undefined);
  const texts = Object.values(all).map(({ text }) => text);
  t.equal(bare.parts.toString('latin1'), texts.join(''), 'for another architecture');
  t.end();
});
