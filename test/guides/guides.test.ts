// Rules for every guide: each example is run by a test, each command line is valid, each setting is valid.
import { copyFileSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'smol-toml';
import t from 'tap';

import { guides, type Guide } from '#documents/guides.ts';
import { changeConfig, readConfig, valuesIn } from '#configuration/config.ts';
import { sections } from '#configuration/keys.ts';
import { examplesOf, guideFolder, readGuide } from '#test/fixtures/guides.ts';
import { canBeTyped } from './typed-lines.ts';

const root = join(import.meta.dirname, '../..');
const journey = readFileSync(join(root, 'docs/journey.md'), 'utf8');
const guideNames = Object.keys(guides) as Guide[];

/** Lines that the current tools refuse, and lines that would make a publisher the administrator of the store. */
const refused = [/SNAPCRAFT_STORE_AUTH=['"]?candid/, /SNAPCRAFT_ADMIN_MACAROON/, /cat [^\s)]*admin\.macaroon/];

t.test('no page gives publishers a refused command, or the administrator’s credential', (t) => {
  const pages = readdirSync(guideFolder).map((name) => [name, readFileSync(join(guideFolder, name), 'utf8')] as const);
  const start = readFileSync(join(root, 'packaging/start.ts'), 'utf8');
  for (const [name, text] of [...pages, ['journey.md', journey], ['start.ts', start]] as const) {
    for (const pattern of refused) t.notMatch(text, pattern, name);
  }
  t.end();
});

/** Examples that change a whole host. A test runs their programs in a container: the file, and a line of it for each program. */
const runInContainer: Readonly<Record<string, readonly [string, RegExp]>> = {
  'administrator: Set up': ['packaging/deb.long.test.ts', /'dpkg', '--install', now/],
  'administrator: Keep the keys encrypted': ['packaging/deb.long.test.ts', /'systemd-creds', 'encrypt'/],
  'administrator: Upgrade': ['packaging/deb.long.test.ts', /'dpkg', '--install', next/],
  'recovery: An upgrade went wrong, and the older release is wanted back': [
    'packaging/deb.long.test.ts',
    /'larder', 'go-back'/,
  ],
};

/** The sections (`guide: section`, or `guide` for all of it) that the tests name in a call of a function of fixtures/guides.ts. */
function sectionsIn(texts: readonly string[], pattern: string): Set<string> {
  const call = new RegExp(`\\b(?:${pattern})\\(\\s*'([\\w-]+)'(?:\\)|,\\s*(['"])(.+?)\\2,)`, 'g');
  const matches = texts.flatMap((text) => [...text.matchAll(call)]);
  return new Set(matches.map(([, name = '', , section]) => (section === undefined ? name : `${name}: ${section}`)));
}

t.test('every example of a guide is run by a test, and every output compared', (t) => {
  const folder = join(root, 'test');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const texts = files
    .filter((path) => path !== 'guides/guides.test.ts')
    .map((path) => readFileSync(join(folder, path), 'utf8'));
  const read = sectionsIn(texts, 'examplesIn|examplesThroughout|examplesOf');
  const compared = sectionsIn(texts, 'missingOutput');
  const examples = guideNames.flatMap((name) => examplesOf(name).map((example) => ({ name, ...example })));
  t.same(
    examples
      .filter(({ name, section, language }) => language === 'text' && !compared.has(`${name}: ${section}`))
      .map(({ name, section }) => `${name}: ${section}`),
    [],
    'compare the output in a test with missingOutput()',
  );
  t.ok(examples.length > 100);
  const isRun = ({ name, section }: { name: string; section: string }): boolean =>
    read.has(name) || read.has(`${name}: ${section}`) || `${name}: ${section}` in runInContainer;
  const run = new Set(examples.filter(isRun).flatMap(({ lines }) => lines));
  const left = examples.filter(
    (example) =>
      // Settings have the test below.
      !['text', 'toml'].includes(example.language) && !isRun(example) && !example.lines.every((line) => run.has(line)),
  );
  t.same(
    left.map(({ name, section, lines }) => `${name}: ${section}: ${lines[0] ?? ''}`),
    [],
    'read it in a test with examplesIn()',
  );
  for (const [place, [file, line]] of Object.entries(runInContainer)) {
    t.match(readFileSync(join(folder, file), 'utf8'), line, place);
    t.ok(
      examples.some(({ name, section }) => `${name}: ${section}` === place),
      `${place} is there`,
    );
  }
  t.end();
});

/** The commands of larder in a line of a shell. */
const commandsIn = (line: string): string[] =>
  line
    .replace(/ #.*$/, '')
    .split(/ && | \|\| /)
    .map((command) => command.trim().replace(/ > \S+$/, ''))
    .filter((command) => command.startsWith('larder '));

t.test('every command line of larder in a guide is valid', async (t) => {
  const lines = guideNames.flatMap((name) =>
    examplesOf(name)
      .filter(({ language }) => language === 'sh')
      .flatMap((example) =>
        example.lines
          .join('\n')
          .replaceAll(/\\\n\s*/g, '')
          .split('\n'),
      )
      .flatMap(commandsIn),
  );
  t.ok(lines.length > 150);
  await canBeTyped(t, lines);
});

t.test('every setting in a guide is a setting of larder.toml', (t) => {
  let count = 0;
  for (const name of guideNames) {
    for (const { language, lines } of examplesOf(name)) {
      const text = lines.join('\n');
      if (language !== 'toml' || !text.includes('[')) continue;
      const file = join(t.testdir(), 'larder.toml');
      copyFileSync(join(root, 'config/appliance.toml'), file);
      const values = [...sections().keys()].flatMap((section) =>
        Object.entries(valuesIn(parse(text), section) as Record<string, string | string[]>)
          .map(([key, value]) => [`${section}.${key}`, value] as const)
          .filter(([key]) => !sections().has(key)),
      );
      t.doesNotThrow(() => changeConfig(file, Object.fromEntries(values)), `${name}: ${text}`);
      t.ok(readConfig(file));
      count += values.length;
    }
  }
  t.ok(count > 10);
  t.end();
});

t.test('a guide begins with the title under which the store shows it', (t) => {
  const files = readdirSync(guideFolder).filter((name) => name !== 'README.md');
  t.same(files.sort(), guideNames.map((name) => `${name}.md`).sort());
  for (const name of guideNames) t.match(readGuide(name), new RegExp(`^# ${RegExp.escape(guides[name])}\n\n\\S`), name);
  t.end();
});
