// A smoke alarm, not a fence: who may import whom, read off the import lines. .dependency-cruiser.cjs looks closer.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { join, normalize, dirname } from 'node:path';

import { load } from 'js-yaml';
import t from 'tap';

import { everyAct } from '#acts/index.ts';
import { filesOf } from '#test/fixtures/together.ts';

const arrow = [
  'domain',
  'files',
  'engine',
  'records',
  'assertions blobs deltas review shared tls',
  'acts',
  'macaroons registry',
  'api',
  'operations identity jobs integrity backup transfers',
  'data',
  'examinations',
  'console',
  'appliance',
  'workers',
  'cli',
  'main.ts',
].map((step) => step.split(' '));
const step = (part: string): number => arrow.findIndex((parts) => parts.includes(part));
const part = (file: string): string => file.split('/')[1] ?? '';

const src = join(import.meta.dirname, '../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && path !== 'api/wire.ts')
  .map((path) => ({ file: `src/${path}`, text: readFileSync(join(src, path), 'utf8') }));
const imports = files.flatMap(({ file, text }) =>
  [...text.matchAll(/^(?:import|export)\b([^;'"]*?)(?:from )?'([^']+)';/gm)].map(([, names = '', from = '']) => ({
    file,
    names,
    from: from.startsWith('.') ? normalize(join(dirname(file), from)) : from.replace(/^#(?:src\/)?/, 'src/'),
  })),
);
/** The imports of `from` in files other than `by`. */
const strangers = (from: RegExp, by: RegExp) => imports.filter((line) => from.test(line.from) && !by.test(line.file));

t.test('imports point one way', (t) => {
  const wrong = imports.filter(({ file, from }) => {
    const [at, to] = [step(part(file)), step(part(from))];
    return from !== 'src/api/wire.ts' && at >= 0 && to >= 0 && to >= at && part(file) !== part(from);
  });
  t.same(wrong, []);
  t.end();
});

t.test('what has one home is imported only there', (t) => {
  const sql = imports.filter(({ from, names }) => from === 'src/engine/database.ts' && /\bsql\b/.test(names));
  t.not(sql.length, 0);
  t.same(
    sql.filter(({ file }) => !['records', 'engine'].includes(part(file))),
    [],
    'SQL is written in records/ and its engine',
  );
  t.same(
    strangers(/^better-sqlite3/, /^src\/(engine\/sqlite\/|data\/lock\.ts$)/),
    [],
    'the engine and the lock know SQLite',
  );
  t.same(
    strangers(/^src\/records\/index\.ts$/, /^src\/acts\/door\.ts$/).filter(({ names }) =>
      /\bWritableRecords\b/.test(names),
    ),
    [],
    'acts alone change the records',
  );
  t.same(strangers(/^@?koa/, /^src\/api\/(?:server|places)\.ts$/), [], 'the server knows Koa');
  t.same(strangers(/^ajv/, /^src\/api\/schema\.ts$/), [], 'one file knows ajv');
  t.same(strangers(/^@aws-sdk/, /^src\/blobs\/s3\//), [], 'one folder speaks S3');
  t.same(strangers(/^smol-toml$/, /^src\/(config\.ts$|configuration\/)/), [], 'the configuration is in TOML');
  t.end();
});

t.test('what must outlive a power cut is made durable in two folders', (t) => {
  const asking = files
    // Whether a server syncs is asked there, and nothing synced.
    .filter(({ file }) => !file.startsWith('src/engine/postgres/'))
    .filter(({ text }) => /\b(?:fsync|fdatasync)|\.(?:data)?sync\(\)|flush: true/i.test(text))
    .map(({ file }) => file);
  t.same(
    asking.filter((file) => !['files', 'blobs'].includes(part(file))),
    [],
  );
  t.same(
    asking.filter((file) => part(file) === 'files'),
    ['src/files/durable.ts', 'src/files/streamed.ts'],
  );
  t.end();
});

t.test('every operation is listed', (t) => {
  const index = join(src, 'operations/index.ts');
  const list = existsSync(index) ? readFileSync(index, 'utf8') : '';
  const declaring = files.filter(({ file, text }) => part(file) === 'operations' && /\boperation\(\{/.test(text));
  for (const { file, text } of declaring) {
    for (const [, name = ''] of text.matchAll(/^export const (\w+) = operation\(/gm)) {
      t.match(list, new RegExp(`\\b${name}\\b`), `${file}: ${name}`);
    }
  }
  t.end();
});

t.test('nothing is changed but by acts', (t) => {
  // Inside of a transaction a noun may be called to change: that is what acts do.
  const door = /(?<!\btx\.\w+|\bacts|\.)\.(?:change|beginAnew)\b(?=[(),;])/;
  const through = files.filter(({ text }) => door.test(text)).map(({ file }) => file);
  t.same(through, ['src/acts/door.ts']);
  t.end();
});

t.test('every act is listed, under a name of its own', async (t) => {
  const listed = new Set<unknown>(everyAct);
  let declared = 0;
  for (const { file, text } of files.filter(({ file }) => part(file) === 'acts')) {
    declared += text.match(/= act[<(]/g)?.length ?? 0;
    const exported = (await import(join(src, '..', file))) as Record<string, unknown>;
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value === 'object' && value !== null && 'perform' in value)
        t.ok(listed.has(value), `${file}: ${name}`);
    }
  }
  t.equal(everyAct.length, declared, 'each that is declared is listed once');
  const names = everyAct.map(({ name, outcome = 'done' }) => `${name} ${outcome}`);
  t.same(
    names.filter((name, at) => names.indexOf(name) < at),
    [],
    'no two have one word and one outcome in the audit log',
  );
});

t.test(
  'every file of tests runs once: alone, in one suite, or with those that need a browser or servers of others',
  (t) => {
    const root = join(import.meta.dirname, '..');
    const { include, exclude } = load(readFileSync(join(root, '.taprc'), 'utf8')) as Record<string, string[]>;
    const run = globSync(include!, { cwd: root, exclude: exclude! });
    const filesIn = (suite: string): string[] => {
      const patterns = [...readFileSync(join(root, suite), 'utf8').matchAll(/'([^']+\.test\.ts)'/g)];
      return filesOf(...patterns.map(([, pattern = '']) => pattern)).map((file) => `test/${file}`);
    };
    const inSuites = run.filter((file) => file.startsWith('test/suites/')).flatMap(filesIn);
    const withServers = filesIn('test/servers.ts');
    t.ok(withServers.length > 0);
    const alone = run.filter((file) => !file.startsWith('test/suites/'));
    t.ok(inSuites.length > alone.length);
    t.strictSame([...alone, ...inSuites, ...withServers].sort(), globSync('test/**/*.test.ts', { cwd: root }).sort());
    t.end();
  },
);
