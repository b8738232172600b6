// The documents for contributors are true: their links and names exist, and their lists are complete.
import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, normalize } from 'node:path';

import t from 'tap';

import { groups } from '#cli/index.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Paths of all documents below docs/; guides are for users and name paths of their hosts. */
const documents = globSync('docs/**/*.md', { cwd: root }).sort();
const forContributors = [
  ...documents.filter((path) => !path.startsWith('docs/guides/')),
  'src/README.md',
  'packaging/README.md',
];
const withoutCode = (text: string): string => text.replace(/^```[^]*?^```/gm, '');

/** The address of a heading, as code hosts make it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
const anchorsIn = (text: string): string[] =>
  Array.from(withoutCode(text).matchAll(/^#+ (.+)$/gm), ([, heading = '']) => anchorOf(heading));

t.test('every link leads to a file and a heading that exist', (t) => {
  for (const path of [...documents, 'README.md', 'src/README.md', 'packaging/README.md']) {
    for (const [, link = ''] of withoutCode(read(path)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(?:https?:|mailto:|\/)/.test(link)) continue;
      const [target = '', anchor] = link.split('#');
      const file = target === '' ? path : normalize(join(dirname(path), target));
      if (!t.ok(existsSync(join(root, file)), `${path}: ${link}`) || anchor === undefined) continue;
      t.ok(anchorsIn(read(file)).includes(anchor), `${path}: ${link} is a heading`);
    }
  }
  t.end();
});

t.test('every path that a document names exists', (t) => {
  let pathCount = 0;
  for (const path of forContributors) {
    for (const [, name = ''] of read(path).matchAll(/`((?:src|test|schemas|packaging|config|docs|\.ci)\/[\w./-]*)`/g)) {
      // NAME and NNNN stand for a file that a reader adds.
      if (/\b(?:NAME|NNNN)\b/.test(name)) continue;
      pathCount++;
      t.ok(existsSync(join(root, name)), `${path}: ${name}`);
    }
  }
  t.ok(pathCount > 200, `${String(pathCount)} paths`);
  for (const [, name = ''] of read('README.md').matchAll(/ -- (test\/[\w./-]+)`/g)) {
    t.ok(existsSync(join(root, name)), `README.md: ${name}`);
  }
  t.end();
});

t.test('every command that a document names exists', (t) => {
  const scripts = Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts);
  const commands = groups.flatMap(({ commands }) => commands.map(({ name }) => name));
  for (const path of forContributors) {
    for (const [, script = ''] of read(path).matchAll(/\bnpm run ([a-z:]+)/g)) {
      t.ok(scripts.includes(script), `${path}: npm run ${script}`);
    }
    for (const [, line = ''] of read(path).matchAll(/`larder ([a-z][a-z -]*)/g)) {
      const words = line.trim().split(' ');
      const isCommand = [words.slice(0, 2).join(' '), words[0] ?? ''].some((name) => commands.includes(name));
      t.ok(isCommand, `${path}: larder ${line}`);
    }
  }
  t.end();
});

t.test('the architecture and the maps name every module and every file at the top of src', (t) => {
  const [text, map] = [read('docs/architecture.md'), read('src/README.md')];
  for (const entry of readdirSync(join(root, 'src'), { withFileTypes: true })) {
    if (entry.name === 'README.md') continue;
    const isRow = entry.isDirectory()
      ? text.includes(`\n| \`${entry.name}/\` |`)
      : text.includes(`\`src/${entry.name}\``);
    t.ok(isRow, `docs/architecture.md: ${entry.name}`);
    t.ok(map.includes(`\n${entry.name}${entry.isDirectory() ? '/' : ''} `), `src/README.md: ${entry.name}`);
  }
  t.end();
});

interface ImportRule {
  name: string;
  to: { pathNot?: string | string[] };
}

t.test('the architecture shows the arrow that is checked', (t) => {
  const arrowIn = (path: string): string => /^```\n(domain ←[^]*?)^```$/m.exec(read(path))?.[1] ?? '';
  const steps = arrowIn('docs/architecture.md')
    .split('←')
    .map((step) => step.split('·').map((part) => part.trim()));
  t.equal(arrowIn('src/README.md'), arrowIn('docs/architecture.md'));
  const { forbidden } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs')) as {
    forbidden: ImportRule[];
  };
  const rules = new Map(forbidden.map((rule) => [rule.name, [rule.to.pathNot ?? []].flat()]));
  for (const [at, step] of steps.entries()) {
    for (const part of step) {
      const allowed = rules
        .get(`${part}-imports-only-to-its-left`)
        ?.flatMap((path) => /^\^src\/(\w+)\(/.exec(path)?.[1] ?? []);
      t.strictSame(new Set(allowed), new Set([part, ...steps.slice(0, at).flat()]), part);
    }
  }
  t.equal([...rules.keys()].filter((name) => name.endsWith('-imports-only-to-its-left')).length, steps.flat().length);
  t.end();
});

t.test('every decision has its reason, content, consequences and alternatives, and is listed', (t) => {
  const pages = documents.filter((path) => /^docs\/decisions\/\d/.test(path));
  const list = read('docs/decisions/README.md');
  t.ok(pages.length >= 15);
  for (const [at, path] of pages.entries()) {
    const name = path.replace('docs/decisions/', '');
    const number = String(at + 1);
    t.match(name, new RegExp(`^${number.padStart(4, '0')}-[a-z0-9-]+\\.md$`), 'numbers follow one another');
    t.ok(list.includes(`](${name})`), `${name} is listed`);
    const text = read(path);
    t.match(text, new RegExp(`^# ${number}\\. \\S`));
    const headings = Array.from(text.matchAll(/^## (.+)$/gm), ([, heading]) => heading);
    const figures = headings.includes('Figures') ? ['Figures'] : [];
    t.strictSame(headings, ['Context', ...figures, 'Decision', 'Consequences', 'Alternatives'], name);
  }
  t.end();
});

t.test('the glossary is in the order of the alphabet, and has each term once', (t) => {
  const terms = Array.from(read('docs/glossary.md').matchAll(/^\| (.+?) \| .+? \|.*\|$/gm), ([, term = '']) =>
    term.toLowerCase(),
  ).slice(1);
  t.ok(terms.length > 120, `${String(terms.length)} terms`);
  t.strictSame(terms, [...new Set(terms)].sort());
  t.end();
});

t.test('every document is listed', (t) => {
  const list = read('docs/README.md');
  for (const path of documents.filter((path) => /^docs\/(?:guides\/)?[^/]+$/.test(path) && path !== 'docs/README.md')) {
    const link = path.replace('docs/', '');
    t.ok(
      list.includes(`](${link})`),
      `${path}: add to docs/README.md: | [${link.replace(/\.md$/, '')}](${link}) | … |`,
    );
  }
  t.end();
});

t.test('every dependency has its reason', (t) => {
  const about = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
  const [atRunTime = '', atBuildTime = ''] = read('docs/dependencies.md').split('## At build time');
  const tables = { dependencies: atRunTime, optionalDependencies: atRunTime, devDependencies: atBuildTime };
  for (const [kind, text] of Object.entries(tables)) {
    const cells = Array.from(text.matchAll(/^\| ([^|]+) \|/gm), ([, cell = '']) => cell.split(', ')).flat();
    for (const name of Object.keys(about[kind] ?? {}))
      t.ok(cells.includes(name), `${name}: add to docs/dependencies.md: | ${name} | … |`);
  }
  t.end();
});

t.test('each howto page names the test that notices a missing step, and is listed', (t) => {
  for (const path of documents.filter((path) => path.startsWith('docs/howto/'))) {
    t.ok(read('docs/README.md').includes(`](${path.replace('docs/', '')})`), path);
    t.match(read(path), /^\| 1 \| /m, path);
    if (path !== 'docs/howto/custody.md') t.match(read(path), '| Missing step | Red test |', path);
  }
  t.end();
});
