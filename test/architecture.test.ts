// A fast check of the import lines: each module imports only its allowed modules. .dependency-cruiser.cjs looks closer.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

import t from 'tap';

import { everyAct } from '#acts/index.ts';
import { generatedLists } from '../packaging/generate-lists.ts';
import { importsOf, readImportGraph } from '#test/runner/import-graph.ts';
import { allTestFiles, laneOf, lanes, selectFiles } from '#test/runner/lanes.ts';

const arrow = [
  'domain',
  'platform',
  'files',
  'contract',
  'configuration',
  'engine',
  'records',
  'assertions blobs deltas review shared tls',
  'acts',
  'macaroons registry',
  'access',
  'http',
  'documents',
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
  .filter((path) => path.endsWith('.ts') && !/^contract\/(?:wire|config-validator)\.ts$/.test(path))
  .map((path) => ({ file: `src/${path}`, text: readFileSync(join(src, path), 'utf8') }));
const imports = files.flatMap(({ file, text }) =>
  [...text.matchAll(/^(?:import|export)\b([^;'"]*?)(?:from )?'([^']+)';/gm)].map(([, names = '', from = '']) => ({
    file,
    names,
    from: from.startsWith('.') ? normalize(join(dirname(file), from)) : from.replace(/^#(?:src\/)?/, 'src/'),
  })),
);
/** The imports of `from` in files other than `by`. */
const strangers = (from: RegExp, importers: RegExp) =>
  imports.filter((line) => from.test(line.from) && !importers.test(line.file));

t.test('imports point one way', (t) => {
  const wrong = imports.filter(({ file, from }) => {
    const [at, to] = [step(part(file)), step(part(from))];
    return from.startsWith('src/') && (at < 0 || to < 0 || to >= at) && part(file) !== part(from);
  });
  t.same(wrong, []);
  t.end();
});

t.test('foreign libraries with one home are imported only there', (t) => {
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
  t.same(strangers(/^@?koa/, /^src\/http\/(?:server|route-table)\.ts$/), [], 'the server knows Koa');
  t.same(strangers(/^ajv/, /^src\/contract\/schema\.ts$/), [], 'one file knows ajv');
  t.same(strangers(/^@aws-sdk/, /^src\/blobs\/s3\//), [], 'one folder speaks S3');
  t.same(strangers(/^smol-toml$/, /^src\/configuration\//), [], 'the configuration is in TOML');
  t.same(strangers(/^(?:openid-client|jose)$/, /^src\/identity\/openid\//), [], 'one folder speaks OpenID Connect');
  t.end();
});

t.test('durable files are written in two folders only', (t) => {
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
    ['src/files/durable-streams.ts', 'src/files/durable.ts'],
  );
  t.end();
});

interface HandWrittenList {
  /** The file with the list. */
  list: string;
  /** The folder of the files that declare entries. */
  folder: string;
  /** Finds the name of each entry in a file. */
  declaration: RegExp;
  /** The line to add to the list. */
  line(name: string, path: string): string;
}

const operationLists: HandWrittenList[] = [
  { folder: 'src/operations', list: 'src/operations/index.ts', declaration: /^export const (\w+) = operation\(/gm },
  { folder: 'src/identity', list: 'src/identity/operations.ts', declaration: /^export const (\w+) = operation\(/gm },
  {
    folder: 'src/examinations',
    list: 'src/examinations/index.ts',
    declaration: /^export const (\w+): Examination\b/gm,
  },
].map((list) => ({ ...list, line: (name, path) => `import { ${name} } from '${path}'; … ${name},` }));

/** Lists that people keep by hand because the order has a meaning. Each entry is the name of an export. */
const handWrittenLists: HandWrittenList[] = [
  ...operationLists,
  {
    folder: 'src/cli',
    list: 'src/cli/index.ts',
    declaration: /^export const (\w+) = command\(/gm,
    line: (name, path) => `{ name: '…', load: async () => (await import('${path}')).${name} },`,
  },
  {
    folder: 'src/jobs',
    list: 'src/appliance/background.ts',
    declaration: /^export (?:const|function) (\w+)(?= ?=? ?\((?:(?!^\}|^export )[^])*?\): BackgroundJob\b)/gm,
    line: (name) => `${name}(…), in jobsOf`,
  },
  {
    folder: 'test/operation-table',
    list: 'test/operation-table/index.ts',
    declaration: /^export const (\w+): OperationRows\b/gm,
    line: (name, path) => `import { ${name} } from '${path}'; … ${name.replace('Rows', '')}: ${name},`,
  },
  {
    folder: 'test/bench',
    list: 'test/bench/run.ts',
    declaration: /^export async function (\w+)\(\): Promise<void>/gm,
    line: (name, path) => `import { ${name} } from '${path}'; … ${name},`,
  },
];

t.test('every part that a list names by hand is in the list', (t) => {
  const root = join(src, '..');
  for (const { folder, list, declaration, line } of handWrittenLists) {
    const listText = readFileSync(join(root, list), 'utf8');
    let count = 0;
    for (const path of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      const file = `${folder}/${path}`;
      if (!path.endsWith('.ts') || file === list) continue;
      for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(declaration)) {
        const from = relative(dirname(list), file);
        count += 1;
        t.match(listText, new RegExp(`\\b${name}\\b`), `${file}: add to ${list}: ${line(name, `./${from}`)}`);
      }
    }
    t.ok(count > 5, `${folder}: ${count} entries are declared in the form that this test reads`);
  }
  t.end();
});

t.test('nothing is changed but by acts', (t) => {
  // Inside of a transaction a noun may be called to change: acts do that.
  const door = /(?<!\btx\.\w+|\bacts|\.)\.(?:change|beginAnew)\b(?=[(),;])/;
  const through = files.filter(({ text }) => door.test(text)).map(({ file }) => file);
  t.same(through, ['src/acts/door.ts']);
  t.end();
});

/** The exports of a module that are acts or operations, also within lists. */
async function readDeclared(file: string): Promise<{ name: string; value: unknown }[]> {
  const exported = (await import(join(src, '..', file))) as Record<string, unknown>;
  return Object.entries(exported).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter((each) => typeof each === 'object' && each !== null && ('perform' in each || 'handle' in each))
      .map((each) => ({ name, value: each })),
  );
}

t.test('every act and every page is in the generated list of its module', async (t) => {
  for (const { module, makers } of generatedLists) {
    const { declared } = (await import(join(src, module, 'declared.ts'))) as { declared: Record<string, unknown[]> };
    const listed = new Set(Object.values(declared).flat(2));
    const declaration = new RegExp(`^(?!export const ).*?(?: = |(?<=^))(${makers.join('|')})[<(]`, 'gm');
    let count = 0;
    for (const { file, text } of files.filter(({ file }) => part(file) === module)) {
      for (const [line, maker = ''] of text.matchAll(declaration))
        t.fail(`${file}: export it, as in export const NAME = ${maker}(: ${line}`);
      for (const { name, value } of /\/(?:declared|index)\.ts$/.test(file) ? [] : await readDeclared(file)) {
        count += 1;
        t.ok(
          listed.has(value),
          `${file}: run npm run generate, which reads export const ${name} = ${makers.join('|')}(`,
        );
      }
    }
    t.equal(listed.size, count, `${module}: each that is declared is listed once`);
    t.ok(count > 100);
  }
});

t.test('every act has a unique name', (t) => {
  const names = everyAct.map(({ name, outcome = 'done' }) => `${name} ${outcome}`);
  t.same(
    names.filter((name, at) => names.indexOf(name) < at),
    [],
    'no two have one word and one outcome in the audit log',
  );
  t.end();
});

t.test('every test file is in one lane, by its name', (t) => {
  const all = allTestFiles();
  t.ok(all.length > 400);
  const suffixes = new Set(all.map((file) => /(?:\.([^./]+))?\.test\.ts$/.exec(file)?.[1] ?? 'tests'));
  t.same([...suffixes].sort(), [...lanes].sort(), 'a suffix that no lane has would run nowhere');
  for (const lane of lanes) {
    const selected = selectFiles(lane, []);
    const others = selected.filter((file) => laneOf(file) !== lane);
    // They have tests for both.
    if (lane === 'long') t.ok(others.length > 0 && others.every((file) => laneOf(file) === 'tests'));
    else t.strictSame(others, []);
    t.strictSame(
      all.filter((file) => laneOf(file) === lane && !selected.includes(file)),
      [],
    );
  }
  t.end();
});

/** Modules that are divided by the list of subjects in docs/architecture.md. */
const divided = ['acts', 'records', 'operations', 'cli', 'console', 'domain', 'jobs'];
const maxFilesPerFolder = 20;
/** Folders that are read as a whole: journeys run in several ways, a row or a migration is added at the end, a picture is written. */
const longFolders = [
  'src/records/migrations',
  'test/console/pictures/kept',
  'test/fixtures/snaps',
  'test/journeys',
  'test/operation-table',
];

t.test('tests are in the folders of the subjects that they are about, and no folder is long', (t) => {
  const root = join(src, '..');
  const counts = new Map<string, number>();
  for (const top of ['src', 'test'])
    for (const entry of readdirSync(join(root, top), { recursive: true, withFileTypes: true })) {
      const folder = relative(root, entry.parentPath);
      if (entry.isFile()) counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
  const isLong = (folder: string): boolean => counts.get(folder)! > maxFilesPerFolder;
  const folders = [...counts.keys()];
  t.strictSame(
    folders.filter((folder) => isLong(folder) && !longFolders.includes(folder)),
    [],
  );
  const second = folders.filter((folder) => /^test\/\w+\/[\w-]+$/.test(folder) && divided.includes(part(folder)));
  t.ok(second.length > 40);
  const unknown = second.filter((folder) => !existsSync(join(root, folder.replace('test', 'src'))));
  // The cases of every act that undoes something are one table; pictures are of the pages of all subjects.
  t.strictSame(unknown.sort(), ['test/acts/undo', 'test/console/pictures']);
  t.end();
});

/** Programs of every Debian; the tests of `npm test` may start these, and Node. */
const basic =
  /^(?:\/usr\/bin\/|\/bin\/|\/usr\/sbin\/)?(?:env|sh|bash|tar|mkfifo|mount|umount|sha256sum|unshare|prlimit|test|kill|cat|true)$/;
/** They start a program only if LARDER_RECORDS, LARDER_BLOBS, LARDER_JUDGE or --changed asks for it. */
const onRequest = [
  'fixtures/servers/postgres',
  'fixtures/servers/swift',
  'fixtures/contents',
  'assertions/judge',
  'runner/changed',
].map((name) => `test/${name}.ts`);

t.test('no file of npm test needs a program of others', (t) => {
  const graph = readImportGraph();
  const follows = (path: string): boolean => path.startsWith('test/') && !onRequest.includes(path);
  const call =
    /\b(?:spawn|spawnSync|execFile|execFileSync|execSync|run(?=\(\s*'[^']*',\s*\[))\(\s*['"`]([^'"`$ ]+)['"`]/g;
  // This file names the programs.
  const tested = selectFiles('tests', []).filter((file) => !file.endsWith('architecture.test.ts'));
  const strange = new Map(
    Array.from(graph.values(), ({ path, text }) => {
      const started = Array.from(text.matchAll(call), ([, program = '']) => program);
      return [path, started.filter((program) => !basic.test(program))];
    }),
  );
  const wrong = tested.flatMap((file) =>
    [...importsOf(graph, file, follows)].filter(follows).flatMap((path) => {
      if (path === 'test/fixtures/programs.ts') return [`${file} asks whether a program is installed`];
      return strange.get(path)!.map((program) => `${file} by ${path}: ${program}`);
    }),
  );
  t.same(wrong, [], 'name it x.tools.test.ts or x.servers.test.ts, or split it');
  t.end();
});
